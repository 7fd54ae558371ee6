import { DisposableStore } from '../../common/disposable.ts'
import type { EditorFeatures, FileProblems } from './editor-features.ts'

/** After the last report about a file, languages that report in steps have this long for the next one. */
const QUIET_MS = 400
/** How long a language may take to report anything about a file that it sees for the first time. */
const FIRST_REPORT_MS = 4000
/** How long to wait for a file that was already open, whose problems are known if it hasn't changed. */
const KNOWN_REPORT_MS = 1000
/** Total time limit: a language server may be starting, and agents wait for a tool for a minute or longer. */
const SETTLE_MS = 20_000

export interface SettledProblems {
  files: FileProblems[]
  /** false if the time was over before */
  isSettled: boolean
}

/**
 * Does work with the problems of files once language extensions have checked the files' current text. VS Code doesn't tell when an
 * extension is done, so this opens the files, asks for their symbols (an extension answers in order, so it has read the file by then), and
 * waits until nothing has been reported for a moment.
 */
export async function withSettledProblems<T>(
  features: EditorFeatures,
  paths: readonly string[],
  signal: AbortSignal,
  work: (settled: SettledProblems) => T | Promise<T>,
): Promise<T> {
  const end = performance.now() + SETTLE_MS
  const wanted = new Set(paths)
  const reported = new Set<string>()
  let last = performance.now()
  let wake = () => {}
  const watching = features.onDidChangeProblems(changed => {
    for (const path of changed) {
      if (!wanted.has(path)) continue
      reported.add(path)
      last = performance.now()
      wake()
    }
  })
  const attended = new DisposableStore()
  attended.add(watching)
  try {
    let isNew = false
    for (const path of paths) {
      const opened = await features.open(path)
      const attending = attended.add(await features.attend(path))
      isNew ||= opened.isNew || attending.isNew
    }
    const looked = Promise.all(paths.map(path => features.outline(path).catch(() => [])))
    const timedOut = await Promise.race([
      looked.then(() => false),
      pause(end - performance.now(), signal).then(() => true),
    ])
    const asked = performance.now()
    const firstMs = isNew ? FIRST_REPORT_MS : KNOWN_REPORT_MS
    let isSettled = !timedOut
    for (;;) {
      const now = performance.now()
      const all = paths.every(path => reported.has(path))
      const until = all ? last + QUIET_MS : Math.max(asked + firstMs, last + QUIET_MS)
      if (now >= until || signal.aborted) break
      if (now >= end) {
        isSettled = false
        break
      }
      await Promise.race([
        pause(Math.min(until, end) - now, signal),
        new Promise<void>(resolve => {
          wake = resolve
        }),
      ])
    }
    const found = await Promise.all(paths.map(path => features.problems(path)))
    return await work({ files: found.flat(), isSettled })
  } finally {
    attended.dispose()
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.max(0, ms))
    signal.addEventListener('abort', done, { once: true })
  })
}
