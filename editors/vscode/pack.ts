/**
 * `npm run vsix`: the extension bundled with what it needs of Synod, and packed. A .vsix is a zip file with
 * a manifest; writing one takes a page, and the tool for it would bring 150 packages more.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { type ZipFile, zip } from './zip.ts';

const HERE = dirname(fileURLToPath(import.meta.url));

interface Manifest {
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
  readonly displayName: string;
  readonly description: string;
  readonly engines: { readonly vscode: string };
}

/** One file of code; the editor's own module and Node's stay outside. */
export async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    root: HERE,
    ssr: { noExternal: true },
    build: {
      ssr: join(HERE, 'src', 'extension.ts'),
      write: false,
      minify: true,
      target: 'node22',
      rolldownOptions: {
        external: ['vscode', 'bufferutil', 'utf-8-validate', /^node:/],
        output: { format: 'cjs', entryFileNames: 'extension.cjs', codeSplitting: false },
      },
    },
  });
  const [{ output } = { output: [] }] = Array.isArray(built) ? built : [built as never];
  const chunks = (output as readonly { type: string; code?: string }[]).filter(
    ({ type }) => type === 'chunk',
  );
  const [only, another] = chunks;
  if (only?.code === undefined || another !== undefined) {
    throw new Error(`the bundle is ${chunks.length} files, and should be one`);
  }
  return only.code;
}

export async function pack(): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const manifest = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')) as Manifest;
  const own = ['package.json', 'README.md', 'media/synod.svg', 'media/held.svg'];
  const files: ZipFile[] = [
    { name: '[Content_Types].xml', bytes: Buffer.from(CONTENT_TYPES) },
    { name: 'extension.vsixmanifest', bytes: Buffer.from(vsixManifest(manifest)) },
    ...own.map((name) => ({ name: `extension/${name}`, bytes: readFileSync(join(HERE, name)) })),
    { name: 'extension/LICENSE.txt', bytes: readFileSync(join(HERE, '..', '..', 'LICENSE')) },
    { name: 'extension/extension.cjs', bytes: Buffer.from(await bundle()) },
  ];
  return { name: `${manifest.name}-${manifest.version}.vsix`, bytes: zip(files) };
}

const CONTENT_TYPES = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension=".json" ContentType="application/json"/><Default Extension=".vsixmanifest" ContentType="text/xml"/><Default Extension=".md" ContentType="text/markdown"/><Default Extension=".svg" ContentType="image/svg+xml"/><Default Extension=".txt" ContentType="text/plain"/><Default Extension=".cjs" ContentType="application/javascript"/></Types>
`;

function vsixManifest({ name, publisher, version, displayName, description, engines }: Manifest) {
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${displayName}</DisplayName>
    <Description xml:space="preserve">${description}</Description>
    <Categories>Other</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <License>extension/LICENSE.txt</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { name, bytes } = await pack();
  const folder = join(HERE, '..', '..', 'dist');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), bytes);
  process.stdout.write(`${relative(process.cwd(), join(folder, name))}: ${bytes.length} bytes\n`);
}
