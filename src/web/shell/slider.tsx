/** The record as a slider: its place at the bottom of the page. */
import type { ReactNode } from 'react';

export function Slider(): ReactNode {
  return null;
}
