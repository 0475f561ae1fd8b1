/** Work that is done again and again while somebody looks: not while the tab is hidden, and never twice at once. */

/**
 * @param {number} ms Between the end of one time and the start of the next.
 * @param {() => Promise<void>} work
 * @param {AbortSignal} signal Ends it.
 */
export function every(ms, work, signal) {
  let timer = 0;
  let isRunning = false;
  const run = async () => {
    if (isRunning || document.hidden || signal.aborted) return;
    isRunning = true;
    try {
      await work();
    } finally {
      isRunning = false;
      if (!signal.aborted && !document.hidden) timer = setTimeout(() => void run(), ms);
    }
  };
  document.addEventListener("visibilitychange", () => (clearTimeout(timer), void run()), { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  timer = setTimeout(() => void run(), ms);
}
