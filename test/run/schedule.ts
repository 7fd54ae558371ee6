/** A job that runs after everything it needs has passed. */
export interface Job {
  name: string
  needs: string[]
}

/**
 * Runs jobs in order, at most `lanes` at once. `run` returns whether a job passed; `drop` is called instead for a job
 * that needs a failed one. Resolves when all jobs are done.
 */
export async function schedule<T extends Job>(
  jobs: T[],
  lanes: number,
  run: (job: T) => Promise<boolean>,
  drop: (job: T, because: string) => void,
): Promise<void> {
  const outcome = new Map<string, boolean>()
  const waiting = [...jobs]
  const running = new Set<Promise<void>>()
  while (waiting.length > 0 || running.size > 0) {
    const before = waiting.length
    for (const job of [...waiting]) {
      const failed = job.needs.find(need => outcome.get(need) === false)
      const ready = job.needs.every(need => outcome.has(need)) && running.size < lanes
      if (failed === undefined && !ready) continue
      waiting.splice(waiting.indexOf(job), 1)
      if (failed !== undefined) {
        outcome.set(job.name, false)
        drop(job, failed)
        continue
      }
      const promise: Promise<void> = run(job).then(passed => {
        outcome.set(job.name, passed)
        running.delete(promise)
      })
      running.add(promise)
    }
    if (running.size > 0) await Promise.race(running)
    else if (waiting.length === before)
      throw new Error(`Nothing provides what is needed by ${waiting.map(({ name }) => name).join(', ')}`)
  }
}
