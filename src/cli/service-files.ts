/**
 * What is written so that the machine starts the hub: a unit of systemd, an agent of launchd, a task of
 * Windows. Each runs the hub that `synod up` starts, in its data directory, with its flags, and again when
 * it fails. The text ends with a seal, so that a file somebody changed is told from ours.
 */
import { sealText } from '../harness/install/seal.ts';
import { fail } from './failure.ts';

export interface ServiceSpec {
  /** How the machine calls it. */
  readonly name: string;
  readonly dir: string;
  readonly node: string;
  readonly bin: string;
  /** Behind `serve`. */
  readonly args: readonly string[];
  /** Where the hub finds the programs it runs: as whoever installs it does. */
  readonly path: string;
  /** Of Windows: DOMAIN\name. */
  readonly user: string;
}

/** What all of them call it. */
const DESCRIPTION = 'Synod, the coordination hub for AI agents';
/** Another hub holds the directory, or the configuration is wrong: trying again changes nothing. */
const HOPELESS_EXITS = '75 78';
const BY = 'Written by "synod service install"; "synod service uninstall" takes it away.';

/** Folders that were made for the file are taken away with it. */
function madeLine(folders: number): string {
  return `Folders made for it: ${folders}`;
}

export function foldersMade(text: string): number {
  return Number(/Folders made for it: (\d+)/.exec(text)?.[1] ?? 0);
}

export function systemdUnit(spec: ServiceSpec, folders: number): string {
  const words = [spec.node, spec.bin, ...commandOf(spec)].map(commandWord).join(' ');
  const text = `# ${BY}
# ${madeLine(folders)}
# Secrets belong into synod/environment beside the systemd folder (chmod 600), one NAME=value a line.

[Unit]
Description=${DESCRIPTION}

[Service]
Type=exec
WorkingDirectory=-${spec.dir.replaceAll('%', '%%')}
Environment=${quoteForSystemd(`PATH=${spec.path}`)}
EnvironmentFile=-%E/synod/environment
ExecStart=${words}
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=${HOPELESS_EXITS}
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`;
  return sealText(text, 'hash');
}

export function launchdAgent(spec: ServiceSpec, folders: number): string {
  const words = [spec.node, spec.bin, ...commandOf(spec)];
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${BY} ${madeLine(folders)} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${escapeXml(spec.name)}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${escapeXml(word)}</string>`).join('\n')}
  </array>
  <key>WorkingDirectory</key>
  <string>${escapeXml(spec.dir)}</string>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>${escapeXml(spec.path)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ProcessType</key>
  <string>Background</string>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>${escapeXml(spec.dir)}/hub.log</string>
  <key>StandardErrorPath</key>
  <string>${escapeXml(spec.dir)}/hub.log</string>
</dict>
</plist>
`;
  return sealText(text, 'markdown');
}

/** A task has no place for what its program prints, so a shell puts it into the log. */
export function windowsTask(spec: ServiceSpec, folders: number): string {
  const words = [spec.node, spec.bin, ...commandOf(spec)].map(quoteForCmd).join(' ');
  const line = `/d /s /c "${words} >> ${quoteForCmd(`${spec.dir}\\hub.log`)} 2>&1"`;
  const text = `<?xml version="1.0" encoding="UTF-16"?>
<!-- ${BY} ${madeLine(folders)} -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${DESCRIPTION}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${escapeXml(spec.user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${escapeXml(spec.user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
    <Hidden>true</Hidden>
    <Enabled>true</Enabled>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>cmd.exe</Command>
      <Arguments>${escapeXml(line)}</Arguments>
      <WorkingDirectory>${escapeXml(spec.dir)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`;
  return sealText(text, 'markdown');
}

function commandOf({ dir, args }: ServiceSpec): string[] {
  return ['serve', `--dir=${dir}`, ...args];
}

/** A word that systemd takes as it is: no specifier, no line of its own. */
function quoteForSystemd(word: string): string {
  requirePlain(word);
  return `"${word.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`;
}

/** In a command line variables are put in besides. */
function commandWord(word: string): string {
  return quoteForSystemd(word).replaceAll('$', '$$$$');
}

/** Within double quotes cmd reads all but the quote itself and the percent sign as they are. */
function quoteForCmd(word: string): string {
  requirePlain(word);
  if (/["%]/.test(word)) {
    throw fail('service.unsupported', `a task of Windows cannot be told ${word}: no " and no %`);
  }
  return `"${word}"`;
}

function escapeXml(text: string): string {
  requirePlain(text);
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function requirePlain(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (!/[\u0000-\u001f\u007f]/.test(text)) return;
  throw fail('service.unsupported', 'a path or flag with a control character cannot be written');
}
