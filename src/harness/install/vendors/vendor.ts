/**
 * What a vendor's part of an installation is made of: where its files are, what is asked for, and
 * which pieces it therefore wants in which files.
 */
import { join } from 'node:path';
import { SERVER_NAME, type Vendor } from '../../../wire/tool-names.ts';
import type { RenderedDiscipline } from '../../discipline/render.ts';
import type { Json, JsonPath, Piece, WantedFile } from '../piece.ts';
import { sealText } from '../seal.ts';

export type ScopeKind = 'user' | 'project';

/** Where things are on this machine; every path is absolute. */
export interface InstallSite {
  readonly scope: ScopeKind;
  /** The user's home. */
  readonly home: string;
  /** The project's root; in user scope the home. */
  readonly root: string;
  /** Where Synod keeps its launchers and records. */
  readonly synodHome: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a file is there, for vendors that read one of several names. */
  exists(path: string): boolean;
}

export interface InstallOptions {
  /** Let the agent call our tools without asking. */
  readonly permissions: boolean;
  /** Have the agent subscribe and look into its inbox when it starts. */
  readonly autoSubscribe: boolean;
  /** Channels to subscribe to beside the agent's own. */
  readonly channels: readonly string[];
  /** So many seconds a permission prompt waits for people at a gate; null or left out: not at all [PG1]. */
  readonly gates?: number | null;
}

export const DEFAULT_OPTIONS: InstallOptions = {
  permissions: true,
  autoSubscribe: false,
  channels: [],
};

/** A setting of the vendor's own by which what we wrote does nothing. */
export interface Switch {
  readonly path: string;
  readonly format: 'json' | 'toml';
  readonly at: JsonPath;
  isOff(value: unknown): boolean;
  readonly message: string;
}

/** For a list that names what shall not be used. */
export function namesUs(value: unknown): boolean {
  return Array.isArray(value) && value.includes(SERVER_NAME);
}

export interface VendorPart {
  readonly name: Vendor;
  /** What people call it. */
  readonly title: string;
  readonly command: string;
  /** The package on npm, for the advice how to get it. */
  readonly package: string;
  /** The oldest version this was seen to work with. */
  readonly versionMin: string;
  /** The oldest version that can be woken when it is idle, where that is not every one. */
  readonly wakeVersionMin?: string;
  /** Why its permission prompts cannot become gates, where they cannot. */
  readonly noGates?: string;
  /** What is left for a person to do, in this scope. */
  advice(site: InstallSite): readonly string[];
  /** Where to look whether somebody has switched us off. */
  switches(site: InstallSite): readonly Switch[];
  files(
    site: InstallSite,
    options: InstallOptions,
    text: RenderedDiscipline,
  ): readonly WantedFile[];
}

/** The hooks of Claude Code, Codex and Gemini: a list of groups for each event, a list of handlers in each. */
export function hookPieces(
  events: readonly string[],
  commandAt: (event: string) => string,
  handler: (event: string) => Readonly<Record<string, Json>>,
): readonly Piece[] {
  return events.map((event) => {
    const command = commandAt(event);
    const value = { hooks: [{ type: 'command', command, ...handler(event) }] };
    return { kind: 'item', at: ['hooks', event], value, command };
  });
}

/** The one event at which Claude Code and Codex take an answer to a permission prompt. */
const PROMPT_EVENT = 'PermissionRequest';

/** How long the hook of an event waits for people; null: not at all. */
export function waitAt(event: string, { gates }: InstallOptions): number | null {
  return event === PROMPT_EVENT ? (gates ?? null) : null;
}

/** A setting in a file of JSON by which what we wrote does nothing. */
export function jsonSwitch(
  path: string,
  at: JsonPath,
  message: string,
  isOff: (value: unknown) => boolean,
): Switch {
  return { path, format: 'json', at, isOff, message };
}

const PRIMER_WHY = 'tells the agent, in a few lines, that it has channels';

/** The few lines that are always in context, as a file of our own. */
export function primerFile(path: string, { primer }: RenderedDiscipline): WantedFile {
  return { path, format: 'own', why: PRIMER_WHY, pieces: [sealed(primer)] };
}

/** The same in a file that others write too. */
export function primerSection(
  path: string,
  vendor: Vendor,
  { primer }: RenderedDiscipline,
): WantedFile {
  const section = { kind: 'section', mark: `synod-${vendor}`, text: primer } as const;
  return { path, format: 'markdown', why: PRIMER_WHY, pieces: [section] };
}

/** The skill below a vendor's folder; all vendors look for it alike. */
export function skillFile(folder: string, { skill, skillName }: RenderedDiscipline): WantedFile {
  return {
    path: join(folder, 'skills', skillName, 'SKILL.md'),
    format: 'own',
    why: 'the skill that teaches the agent how to use channels',
    pieces: [sealed(skill)],
  };
}

function sealed(text: string): Piece {
  return { kind: 'whole', text: sealText(text, 'markdown') };
}
