import { afterEach, vi } from 'vitest';
import { kPatience } from './patience';

// The files of tests run one after the other in one thread, in one jsdom (vite.config.ts). So each begins with modules
// of its own, and each test leaves no trace: a test that passes alone passes beside the others, in whatever order.
vi.resetModules();

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

// Tests of components say `@vitest-environment jsdom`; this is what Mantine asks of a browser and
// jsdom does not have.
if (typeof window !== 'undefined') {
  const { cleanup, configure } = await import('@testing-library/react');
  const { notifications } = await import('@mantine/notifications');
  configure({ asyncUtilTimeout: kPatience });
  afterEach(() => {
    cleanup();
    notifications.clean(); // They are kept beside the page.
    document.body.replaceChildren();
    localStorage.clear();
    sessionStorage.clear();
    window.history.replaceState(null, '', '/');
  });
  window.matchMedia = (query) =>
    ({
      matches: false,
      media: query,
      addEventListener: () => {},
      removeEventListener: () => {},
      addListener: () => {},
      removeListener: () => {},
      dispatchEvent: () => false,
    }) as unknown as MediaQueryList;
  window.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  Element.prototype.scrollIntoView = () => {};
}
