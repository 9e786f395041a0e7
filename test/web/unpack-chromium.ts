/**
 * Run as a program: has the package unpack its Chromium. It unpacks into whatever the folder for temporary files
 * is, and its libraries where it believes to be on the system that lacks them, so that it is told both.
 */
import chromium from '@sparticuz/chromium';

await chromium.executablePath();
