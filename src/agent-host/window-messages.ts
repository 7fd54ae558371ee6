import type { HostMessage } from '../acp/transport/host/channel.ts'
import { isRecord } from '../common/is-record.ts'

type Check = (value: unknown) => boolean

const isText: Check = value => typeof value === 'string'
/** Checks a count, or a time in milliseconds. */
const isAmount: Check = value => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isPort: Check = value => Number.isInteger(value) && isAmount(value) && (value as number) < 65_536
const isFlag: Check = value => typeof value === 'boolean'
const anything: Check = () => true

const optional =
  (check: Check): Check =>
  value =>
    value === undefined || check(value)

const all =
  (check: Check): Check =>
  value =>
    Array.isArray(value) && value.every(check)

const fields =
  (checks: Record<string, Check>): Check =>
  value =>
    isRecord(value) && Object.entries(checks).every(([name, check]) => check(value[name]))

const isEnvironment: Check = value => isRecord(value) && Object.values(value).every(isText)

/**
 * The messages that an attached window may send about its agent, with the fields of each message. A window and a host can be of different
 * builds with the same `HOST_VERSION`, so a field that is new or has another type needs another version.
 */
export const windowMessages: Readonly<Record<string, Check>> = {
  write: fields({}),
  endInput: fields({}),
  taken: fields({ number: isAmount }),
  confirm: fields({ number: isAmount }),
  keep: fields({
    times: fields({ silentMs: isAmount, idleMs: optional(isAmount), totalMs: optional(isAmount) }),
  }),
  secrets: fields({ values: all(isText) }),
  note: fields({ sessionId: isText, note: anything }),
  serve: fields({ port: isPort }),
  stop: fields({ times: optional(fields({ terminateAfterMs: isAmount, killAfterMs: isAmount })) }),
  runCommand: fields({
    info: fields({
      id: isText,
      shown: isText,
      cwd: isText,
      outputLimit: isAmount,
      sessionId: isText,
      isAnswered: isFlag,
    }),
    request: fields({
      command: isText,
      args: all(isText),
      cwd: isText,
      env: isEnvironment,
      encoding: optional(isText),
    }),
  }),
  killCommand: fields({ id: isText, graceMs: isAmount }),
  forgetCommand: fields({ id: isText }),
}

/** Whether the host knows this kind of message, and all of its fields are valid. */
export function isWindowMessage(message: HostMessage): boolean {
  return Object.hasOwn(windowMessages, message.type) && windowMessages[message.type]!(message)
}
