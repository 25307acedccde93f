// What jsdom lacks and Lumino or JupyterLab touch when they are imported.
const world = globalThis as unknown as Record<string, unknown>;
world.DragEvent ??= class DragEvent extends MouseEvent {};
world.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
world.IntersectionObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
world.matchMedia ??= (media: string) => ({
  matches: false,
  media,
  addEventListener() {},
  removeEventListener() {},
  addListener() {},
  removeListener() {}
});
world.requestIdleCallback ??= (done: IdleRequestCallback) =>
  setTimeout(() => done({ didTimeout: false, timeRemaining: () => 50 }), 0);
world.cancelIdleCallback ??= clearTimeout;
