const tasks = new Set<() => void>()

process.on('exit', () => {
  for (const task of [...tasks].reverse()) task()
})

/** Has something done when this process ends early, however it does. The returned function takes that back. */
export function atExit(task: () => void): () => void {
  tasks.add(task)
  return () => {
    tasks.delete(task)
  }
}

/** Makes a signal an ordinary exit, so that what was started and made is ended and removed. */
export function exitOnSignals(): void {
  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const)
    process.prependListener(signal, () => process.exit(128 + number))
}
