/** A job that runs after everything it needs has passed. */
export interface Job {
  name: string
  needs: string[]
}

/**
 * Runs jobs in order, each when it `fits` to those that are running. `run` returns whether a job passed; `drop` is called instead for a job
 * that needs a failed one. Resolves when all jobs are done.
 */
export async function schedule<T extends Job>(
  jobs: T[],
  fits: (job: T, running: readonly T[]) => boolean,
  run: (job: T) => Promise<boolean>,
  drop: (job: T, because: string) => void,
): Promise<void> {
  const outcome = new Map<string, boolean>()
  const waiting = [...jobs]
  const running = new Map<T, Promise<void>>()
  while (waiting.length > 0 || running.size > 0) {
    const before = waiting.length
    for (const job of [...waiting]) {
      const failed = job.needs.find(need => outcome.get(need) === false)
      const ready = job.needs.every(need => outcome.has(need)) && fits(job, [...running.keys()])
      if (failed === undefined && !ready) continue
      waiting.splice(waiting.indexOf(job), 1)
      if (failed !== undefined) {
        outcome.set(job.name, false)
        drop(job, failed)
        continue
      }
      const promise: Promise<void> = run(job).then(passed => {
        outcome.set(job.name, passed)
        running.delete(job)
      })
      running.set(job, promise)
    }
    if (running.size > 0) await Promise.race(running.values())
    else if (waiting.length === before)
      throw new Error(`Nothing provides what is needed by ${waiting.map(({ name }) => name).join(', ')}`)
  }
}
