/** The page begins here: one root, and everything below it. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Frame } from './shell/frame.tsx';
import './tokens.css';

const root = document.getElementById('page');
if (root === null) throw new Error('index.html has no element with the id page');
createRoot(root).render(
  <StrictMode>
    <Frame />
  </StrictMode>,
);
