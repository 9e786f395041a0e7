/** Where the editor begins: the extension is put together with the editor's own API and a real client. */
import * as vscode from 'vscode';
import { openClient } from '../../../src/cli/open-client.ts';
import { type Running, start } from './start.ts';

let running: Running | null = null;

export function activate(context: vscode.ExtensionContext): void {
  running = start(vscode, {
    open(settings) {
      const { directory, name, space } = settings;
      const globals = {
        ...(directory !== '' && { dir: directory }),
        ...(name !== '' && { as: name }),
        ...(space !== '' && { space }),
      };
      return openClient(globals, true);
    },
    iconPath: context.asAbsolutePath('media/held.svg'),
  });
  context.subscriptions.push(running);
}

export function deactivate(): Promise<void> | undefined {
  return running?.close();
}
