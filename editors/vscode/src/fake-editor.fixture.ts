/** The part of the editor's API that the extension uses, for tests: it shows nothing and remembers all. */
import type { Editor } from './start.ts';

export interface FakeDocument {
  readonly uri: { readonly scheme: string; readonly fsPath: string };
  readonly lineCount: number;
}

export interface FakeTextEditor {
  readonly document: FakeDocument;
  /** What the gutter shows, as its hover says it. */
  marks: readonly { readonly hoverMessage: { readonly value: string } }[];
  setDecorations(type: unknown, marks: FakeTextEditor['marks']): void;
}

interface Tree {
  getChildren(): readonly { readonly id: string }[];
  getTreeItem(row: unknown): { readonly label: string; readonly description: string };
}

export interface FakeEditor {
  readonly api: Editor;
  readonly warnings: string[];
  readonly errors: string[];
  readonly typed: string[];
  readonly context: Map<string, unknown>;
  readonly settings: Map<string, unknown>;
  readonly status: { text: string; tooltip: string };
  /** What is typed into the next input box. */
  input: string | undefined;
  rows(view: string): { readonly id: string; readonly label: string }[];
  run(command: string, ...args: unknown[]): Promise<unknown>;
  open(path: string): FakeTextEditor;
  /** What a document of the extension's own shows. */
  read(uri: string): Promise<string>;
}

export function createFakeEditor(): FakeEditor {
  const trees = new Map<string, Tree>();
  const registered = new Map<string, (...args: unknown[]) => unknown>();
  const visibleTextEditors: FakeTextEditor[] = [];
  const onVisible = new Set<() => void>();
  const providers = new Map<string, { provideTextDocumentContent(uri: unknown): unknown }>();
  const disposable = { dispose() {} };
  const fake = {
    warnings: [] as string[],
    errors: [] as string[],
    typed: [] as string[],
    context: new Map<string, unknown>(),
    settings: new Map<string, unknown>(),
    status: { text: '', tooltip: '', show() {}, dispose() {} },
    input: undefined as string | undefined,
  };
  class EventEmitter {
    readonly listeners = new Set<() => void>();
    readonly event = (listener: () => void) => {
      this.listeners.add(listener);
      return disposable;
    };
    fire(): void {
      for (const listener of this.listeners) listener();
    }
    dispose(): void {}
  }
  const parse = (text: string) => {
    const [scheme = '', path = ''] = text.split(':');
    return { scheme, path };
  };
  const api = {
    EventEmitter,
    TreeItem: class {
      readonly label: string;
      constructor(label: string) {
        this.label = label;
      }
    },
    ThemeIcon: class {},
    ThemeColor: class {},
    Range: class {},
    MarkdownString: class {
      value = '';
      appendText(text: string): void {
        this.value += text;
      }
    },
    Uri: { parse },
    window: {
      visibleTextEditors,
      createStatusBarItem: () => fake.status,
      createTextEditorDecorationType: () => disposable,
      registerTreeDataProvider(view: string, tree: Tree) {
        trees.set(view, tree);
        return disposable;
      },
      onDidChangeVisibleTextEditors(listener: () => void) {
        onVisible.add(listener);
        return disposable;
      },
      showWarningMessage: async (text: string) => void fake.warnings.push(text),
      showErrorMessage: async (text: string) => void fake.errors.push(text),
      showInputBox: async () => fake.input,
      showTextDocument: async () => {},
      createTerminal: () => ({
        show() {},
        sendText: (text: string, isEntered = true) =>
          fake.typed.push(isEntered ? `${text}\n` : text),
      }),
    },
    workspace: {
      getConfiguration: () => ({
        get: (name: string, usual: unknown) => fake.settings.get(name) ?? usual,
      }),
      registerTextDocumentContentProvider(scheme: string, provider: never) {
        providers.set(scheme, provider);
        return disposable;
      },
      openTextDocument: async (uri: unknown) => uri,
    },
    commands: {
      registerCommand(name: string, run: () => unknown) {
        registered.set(name, run);
        return disposable;
      },
      async executeCommand(name: string, key: string, value: unknown) {
        if (name === 'setContext') fake.context.set(key, value);
      },
    },
  };
  return Object.assign(fake, {
    api: api as unknown as Editor,
    rows: (view: string) => {
      const tree = trees.get(view);
      return (tree?.getChildren() ?? []).map((row) => ({ ...tree?.getTreeItem(row), id: row.id }));
    },
    run: async (name: string, ...args: unknown[]) => registered.get(name)?.(...args),
    open(path: string) {
      const editor: FakeTextEditor = {
        document: { uri: { scheme: 'file', fsPath: path }, lineCount: 3 },
        marks: [],
        setDecorations(_type, marks) {
          editor.marks = marks;
        },
      };
      visibleTextEditors.push(editor);
      for (const listener of onVisible) listener();
      return editor;
    },
    read: async (uri: string) => {
      const { scheme } = parse(uri);
      return String(await providers.get(scheme)?.provideTextDocumentContent(parse(uri)));
    },
  }) as unknown as FakeEditor;
}
