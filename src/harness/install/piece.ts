/**
 * A piece: one thing of ours inside a file of somebody else, or a whole file of ours.
 *
 * Pieces are plain values, so that the record of an installation can hold them and take out
 * exactly what was put in, also years and versions later.
 */
import type { Vendor } from '../../wire/tool-names.ts';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

export type JsonPath = readonly string[];

/** A member of an object: `at` is the path down to its own name. */
export interface MemberPiece {
  readonly kind: 'member';
  readonly at: JsonPath;
  readonly value: Json;
  /** Nice to have: where the file has no place for it, it is left out. */
  readonly isOptional?: true;
}

/** An element of the list at `at`. */
export interface ItemPiece {
  readonly kind: 'item';
  readonly at: JsonPath;
  readonly value: Json;
  /** A command line by which ours is known when somebody has put other handlers beside it. */
  readonly command?: string;
}

/** A table of a TOML file with its body, line by line. */
export interface TablePiece {
  readonly kind: 'table';
  readonly at: JsonPath;
  readonly lines: readonly string[];
}

/** A marked section of a Markdown file. */
export interface SectionPiece {
  readonly kind: 'section';
  readonly mark: string;
  readonly text: string;
}

/** A whole file of ours. */
export interface WholePiece {
  readonly kind: 'whole';
  readonly text: string;
}

export type JsonPiece = MemberPiece | ItemPiece;
export type Piece = JsonPiece | TablePiece | SectionPiece | WholePiece;

export type Format = 'json' | 'toml' | 'markdown' | 'own';

/** What an installation wants of one file. */
export interface WantedFile {
  readonly path: string;
  readonly format: Format;
  readonly why: string;
  readonly pieces: readonly Piece[];
  /** Those of them that a person may have written as well: ours only where the record says so. */
  readonly anybodys?: readonly Piece[];
  /** For a file that is not there yet. */
  readonly mode?: number;
}

export interface OwnedPiece {
  readonly vendor: Vendor;
  readonly piece: Piece;
}

/** A piece in a few words. */
export function nameOfPiece(piece: Piece): string {
  switch (piece.kind) {
    case 'member':
      return piece.at.join('.');
    case 'item':
      return typeof piece.value === 'string'
        ? `${piece.value} in ${piece.at.join('.')}`
        : `an entry in ${piece.at.join('.')}`;
    case 'table':
      return `[${piece.at.join('.')}]`;
    case 'section':
      return `the section ${piece.mark}`;
    case 'whole':
      return 'the file';
  }
}
