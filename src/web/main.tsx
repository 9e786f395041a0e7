/** The page begins here: one store over one client, one root, and everything below it. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './tokens.css';
import './parts/parts.css';
import { Frame } from './shell/frame.tsx';
import { openPageStore } from './store/page-store.ts';
import { takePageToken } from './store/page-token.ts';
import { StoreContext } from './store/use-store.ts';

const root = document.getElementById('page');
if (root === null) throw new Error('index.html has no element with the id page');
const store = openPageStore(location.origin, takePageToken());
createRoot(root).render(
  <StrictMode>
    <StoreContext value={store}>
      <Frame />
    </StoreContext>
  </StrictMode>,
);
