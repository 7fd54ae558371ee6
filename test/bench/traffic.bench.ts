/**
 * Recording protocol messages: whether a message costs the same among 100,000 as among 1,000, how much memory they really
 * take compared with the limit, and how long filtering them keeps the extension host from other work. Prints the figures,
 * and fails above the limits.
 *
 *   npm run bench -- traffic
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { FrameView } from '../../src/app/inspector/frame-view.ts'
import { ProtocolRecorder } from '../../src/app/inspector/protocol-recorder.ts'
import { SecretRegistry } from '../../src/common/secrets.ts'

const FEW = 1000
const MANY = 100_000
/** The maximum ratio. It should be 1, and the rest is noise. */
const BOUND = 2
/** Milliseconds of CPU time. */
const MAX_SLICE = 50
/** The slice that the filter is given. */
const SLICE = 10
const LIMIT_MB = 50

setFlagsFromString('--expose_gc')
const gc = runInNewContext('gc') as () => void
const heap = () => {
  gc()
  return process.memoryUsage().heapUsed / 1024 ** 2
}
const milliseconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const secrets = new SecretRegistry()
secrets.add('a-secret-of-the-user')

/** As parsed from the wire: no frame shares a text with another one. */
const frame = (i: number) =>
  JSON.parse(
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0197a3c2-1111-7aaa-8bbb-00000000000${i % 4}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"piece ${i} of it"}}}}`,
  ) as object

async function recorder(): Promise<{ recorder: ProtocolRecorder; add: (from: number, to: number) => void }> {
  const recorder = new ProtocolRecorder(secrets)
  recorder.isOn = true
  await recorder.loadSchemas()
  const tap = recorder.tapFor('agent', 'Agent')
  tap.version = 1
  return {
    recorder,
    add(from, to) {
      for (let i = from; i < to; i++)
        tap.current?.({ at: Date.now(), direction: 'receive', message: frame(i) })
    },
  }
}

let failed = false
function check(text: string, isGood: boolean): void {
  failed ||= !isGood
  console.log(isGood ? text : `${text} — too much`)
}

const before = heap()
const { recorder: full, add } = await recorder()
add(0, FEW)
const cost = (from: number) => {
  const begun = milliseconds()
  add(from, from + FEW)
  return ((milliseconds() - begun) * 1000) / FEW
}
const best = (from: number) => Math.min(...[0, 1, 2, 3, 4].map(round => cost(from + round * FEW)))
const few = best(FEW)
add(6 * FEW, MANY)
const many = best(MANY)
check(
  `a message: ${few.toFixed(1)} µs among ${FEW}, ${many.toFixed(1)} µs among ${MANY} (ratio ${(many / few).toFixed(2)}, at most ${BOUND})`,
  many / few <= BOUND,
)
// until old ones are removed
add(MANY, 2 * MANY)
const used = heap() - before
const { count, dropped, bytes } = full.frames
check(
  `${count} messages in memory, ${dropped} removed: ${used.toFixed(1)} MB in the heap, counted as ${(bytes / 1024 ** 2).toFixed(1)} MB (at most ${LIMIT_MB} MB)`,
  used <= LIMIT_MB && dropped > 0,
)
check(`messages at once: ${count}, at least ${MANY}`, count >= MANY)

for (const text of ['', 'piece 15', 'nothing like it'])
  for (const method of [undefined, 'session/update']) {
    const view = new FrameView(full.frames, { text, method })
    let [longest, all] = [0, 0]
    for (let isDone = false; !isDone; ) {
      const begun = milliseconds()
      isDone = view.advance(SLICE)
      longest = Math.max(longest, milliseconds() - begun)
      all += milliseconds() - begun
    }
    check(
      `filter "${text}"${method ? ` and ${method}` : ''}: longest slice ${longest.toFixed(1)} ms of ${all.toFixed(0)} ms (at most ${MAX_SLICE}), ${view.end - view.start} messages`,
      longest <= MAX_SLICE,
    )
  }
full.close()
if (failed) process.exitCode = 1
