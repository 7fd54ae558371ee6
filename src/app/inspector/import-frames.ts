import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import { parseJsonAs } from '../../common/parse-json.ts'
import { readLines } from '../../history/read-lines.ts'
import type { ProtocolRecorder } from './protocol-recorder.ts'
import type { FrameSource, RecordedFrame } from './recorded-frames.ts'

/** The maximum length of a line in bytes. Longer lines are skipped. */
const MAX_LINE = 8 * 1024 * 1024
/** The number of characters to read before other work can run. */
const READ_AT_ONCE = 100_000

/** The maximum number of connections of a file whose protocol versions are kept at once. Each connection has its own request IDs. */
const MAX_SOURCES = 1000

/** The maximum number of members of objects and arrays in a line. Further members are cut. An exported message has fewer. */
const MAX_MEMBERS = 50_000

const name = z.string().max(1000)
const frameLine = z.object({
  at: z.number().min(0).max(8.64e15),
  agent: name,
  agentId: name.default(''),
  connection: z.number().int().default(0),
  version: z.number().optional(),
  direction: z.enum(['send', 'receive']),
  isCut: z.boolean().default(false),
  queued: z.number().min(0).max(8.64e15).optional(),
  message: z.custom<Record<string, unknown>>(isRecord),
})

/** Returns a frame as a line of JSON. */
export function lineOf(recorder: ProtocolRecorder, frame: RecordedFrame): string {
  const { at, direction, isCut, kind, method, queued, version } = frame
  const { agent, agentId, connection } = frame.source
  const about = JSON.stringify({
    at,
    agent,
    agentId,
    connection,
    version,
    direction,
    ...(isCut && { isCut }),
    queued,
    // a response doesn't contain the method of its request
    ...(kind === 'response' && { method }),
  })
  return `${about.slice(0, -1)},"message":${recorder.jsonOf(frame)}}\n`
}

/**
 * Adds the frames of a file to the recorder, until all frames are removed from it. Resolves to the number of lines that were skipped
 * because they contain no frame.
 */
export async function importFrames(
  recorder: ProtocolRecorder,
  file: string,
  signal: AbortSignal,
): Promise<number> {
  const { cleared } = recorder.frames
  const sources = new Map<string, FrameSource>()
  let last = 0
  let skipped = 0
  let length = 0
  let hasCut = false
  const onCut = () => {
    hasCut = true
  }
  for await (const line of readLines(file, MAX_LINE, { signal, onCut, maxMembers: MAX_MEMBERS })) {
    const isPart = hasCut
    hasCut = false
    length += line?.length ?? 0
    if (length > READ_AT_ONCE) {
      length = 0
      await setImmediate()
    }
    if (recorder.frames.cleared !== cleared) return 0
    signal.throwIfAborted()
    if (line?.trim() === '') continue
    const read = line === undefined ? undefined : parseJsonAs(frameLine, line)
    if (!read) {
      skipped++
      continue
    }
    const { agent, agentId, connection, version, isCut, queued, ...frame } = read
    const key = JSON.stringify([agentId, connection])
    let source = sources.get(key)
    if (!source) {
      source = { connection: --last, agent, agentId }
      const [oldest] = sources.keys()
      if (sources.size >= MAX_SOURCES && oldest !== undefined) sources.delete(oldest)
      sources.set(key, source)
    }
    source.version = version ?? source.version
    recorder.record(source, frame, { isPart: isCut || isPart, queued })
  }
  return skipped
}
