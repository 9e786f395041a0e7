/**
 * What the extension shows and does, over the part of the editor's API that is handed in: two trees, a mark
 * in the gutter of files that somebody else holds, a warning when one is opened, and a few commands.
 */
import type * as vscode from 'vscode';
import type { Client } from '../../../src/client/index.ts';
import { docketRows, needsYou } from './docket-rows.ts';
import { type Holder, holdersKey, holderText, warningText } from './held-file.ts';
import { plainWords } from './plain-text.ts';
import { openSession, type Session } from './session.ts';
import { threadRows, threadText } from './thread-rows.ts';

export type Editor = typeof vscode;

export interface Settings {
  readonly directory: string;
  readonly name: string;
  readonly space: string;
}

export interface StartOptions {
  open(settings: Settings): Promise<Client>;
  readonly iconPath: string;
  readonly retryMs?: number;
}

export interface Running {
  readonly session: Session;
  dispose(): void;
  close(): Promise<void>;
}

/** Documents of ours: `synod-thread:m12`. */
const SCHEME = 'synod-thread';

export function start(editor: Editor, options: StartOptions): Running {
  const { window, workspace, commands } = editor;
  const setting = <T>(name: string, usual: T): T =>
    workspace.getConfiguration('synod').get<T>(name, usual);
  const docketChanged = new editor.EventEmitter<void>();
  const threadsChanged = new editor.EventEmitter<void>();
  const status = window.createStatusBarItem();
  status.command = 'synod.docket.focus';
  const heldMark = window.createTextEditorDecorationType({
    gutterIconPath: options.iconPath,
    gutterIconSize: 'contain',
    overviewRulerColor: new editor.ThemeColor('editorWarning.foreground'),
  });
  /** For whom a warning was shown, by file. */
  const warned = new Map<string, string>();

  const session = openSession({
    open: () =>
      options.open({
        directory: setting('directory', ''),
        name: setting('name', ''),
        space: setting('space', ''),
      }),
    ...(options.retryMs !== undefined && { retryMs: options.retryMs }),
    onChange(what) {
      if (what === 'state') void showState();
      if (what === 'state' || what === 'docket') docketChanged.fire();
      if (what === 'state' || what === 'threads') threadsChanged.fire();
      if (what === 'state' || what === 'claims') lookAtAll();
      showStatus();
    },
  });

  async function showState(): Promise<void> {
    await commands.executeCommand('setContext', 'synod.state', session.isHere ? 'here' : 'absent');
  }

  function showStatus(): void {
    const count = needsYou(session.docket, session.me);
    status.text = session.isHere ? `$(organization) ${count}` : '$(organization) -';
    status.tooltip = session.isHere
      ? `Synod: ${count === 0 ? 'nothing needs you' : `${count} need you`}`
      : 'Synod: no hub answers';
    status.show();
  }

  function lookAtAll(): void {
    for (const one of window.visibleTextEditors) void look(one);
  }

  /** Marks the file where somebody else holds it, and says so the first time. */
  async function look(one: vscode.TextEditor): Promise<void> {
    const { uri, lineCount } = one.document;
    if (uri.scheme !== 'file') return;
    const holders = await session.holders(uri.fsPath);
    one.setDecorations(heldMark, holders.length === 0 ? [] : marks(holders, lineCount));
    const key = holdersKey(holders);
    const before = warned.get(uri.fsPath) ?? '';
    warned.set(uri.fsPath, key);
    if (key === '') warned.delete(uri.fsPath);
    if (key === '' || key === before || !setting('warn', true)) return;
    void window.showWarningMessage(warningText(holders));
  }

  function marks(holders: readonly Holder[], lines: number): vscode.DecorationOptions[] {
    const hover = new editor.MarkdownString();
    // As text: nothing in it is markup.
    for (const holder of holders) hover.appendText(`${holderText(holder)}\n`);
    return Array.from({ length: lines }, (_, line) => ({
      range: new editor.Range(line, 0, line, 0),
      hoverMessage: hover,
    }));
  }

  const docketTree: vscode.TreeDataProvider<ReturnType<typeof docketRows>[number]> = {
    onDidChangeTreeData: docketChanged.event,
    getChildren: () => docketRows(session.docket, session.me, Date.now() / 1000),
    getTreeItem(row) {
      const item = new editor.TreeItem(row.label);
      item.id = row.id;
      item.description = row.description;
      item.tooltip = row.tooltip;
      item.contextValue = row.context;
      item.iconPath = new editor.ThemeIcon(row.icon);
      return item;
    },
  };
  const threadTree: vscode.TreeDataProvider<ReturnType<typeof threadRows>[number]> = {
    onDidChangeTreeData: threadsChanged.event,
    getChildren: () => threadRows(session.threads, Date.now() / 1000),
    getTreeItem(row) {
      const item = new editor.TreeItem(row.label);
      item.id = row.id;
      item.description = row.description;
      item.command = { command: 'synod.showThread', title: 'Read', arguments: [row] };
      return item;
    },
  };

  /** What fails is told, and nothing else comes of it. */
  const command = (name: string, run: (row: { id: string }) => Promise<unknown>) =>
    commands.registerCommand(name, async (row: { id: string }) => {
      try {
        await run(row);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        void window.showErrorMessage(`Synod: ${plainWords(why)}`);
      }
    });

  function inTerminal(words: string): void {
    const terminal = window.createTerminal('Synod');
    terminal.show();
    // It waits for the person's own return key.
    terminal.sendText(words, false);
  }

  const parts: vscode.Disposable[] = [
    ...[docketChanged, threadsChanged, status, heldMark],
    window.registerTreeDataProvider('synod.docket', docketTree),
    window.registerTreeDataProvider('synod.threads', threadTree),
    window.onDidChangeVisibleTextEditors(lookAtAll),
    workspace.registerTextDocumentContentProvider(SCHEME, {
      async provideTextDocumentContent(uri) {
        const { messages, isMore } = await session.thread(uri.path);
        return threadText(messages, { isMore });
      },
    }),
    command('synod.refresh', () => session.refresh()),
    command('synod.up', async () => inTerminal('synod up')),
    command('synod.take', ({ id }) => session.take(id)),
    // A gate is opened by a person who types a passphrase, and that is typed at a terminal.
    command('synod.decide', async ({ id }) => inTerminal(`synod docket approve ${id}`)),
    command('synod.answer', async ({ id }) => {
      const item = session.docket.find(({ item_id }) => item_id === id);
      const prompt = plainWords(item?.text ?? id);
      const text = await window.showInputBox({ title: 'Answer', prompt });
      if (text !== undefined && text.trim() !== '') await session.answer(id, text);
    }),
    command('synod.showThread', async ({ id }) => {
      const uri = editor.Uri.parse(`${SCHEME}:${id}`);
      await window.showTextDocument(await workspace.openTextDocument(uri), { preview: true });
    }),
  ];
  showStatus();

  return {
    session,
    dispose() {
      for (const part of parts) part.dispose();
      void session.close();
    },
    close: () => session.close(),
  };
}
