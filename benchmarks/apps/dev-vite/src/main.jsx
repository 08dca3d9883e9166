import { createRoot } from 'react-dom/client';

const PAGES = import.meta.glob('./pages/*.jsx');
const load = PAGES[`./pages${location.pathname}.jsx`];
const { default: Page } = load ? await load() : { default: () => <h1>Not found</h1> };

createRoot(document.getElementById('root')).render(<Page />);
