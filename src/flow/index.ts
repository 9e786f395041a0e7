/** `synod/flow`: what a program is built of that must outlive its processes. */
export { TerminalError } from './workflow/terminal-error.ts';
