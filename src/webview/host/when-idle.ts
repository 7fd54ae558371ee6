/** Runs `work` while the page is idle, or after `delay` milliseconds. In Safari, which can't tell when a page is idle, runs it soon. */
export function whenIdle(work: () => void, delay = 0): void {
  if (delay > 0) setTimeout(work, delay)
  else if ('requestIdleCallback' in globalThis) requestIdleCallback(work)
  else setTimeout(work)
}
