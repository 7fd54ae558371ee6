const tasks = new Set<() => void>()

process.on('exit', () => {
  for (const task of [...tasks].reverse()) task()
})

/** Runs `work` when this process exits early for any reason. The returned function unregisters it. */
export function atExit(task: () => void): () => void {
  tasks.add(task)
  return () => {
    tasks.delete(task)
  }
}

/** Turns a signal into a normal exit, so that what was started is stopped and removed. */
export function exitOnSignals(): void {
  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const)
    process.prependListener(signal, () => process.exit(128 + number))
}
