import { isRecord } from './is-record.ts'

/** The message to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name
  return isRecord(error) && typeof error.message === 'string' ? error.message : String(error)
}

/** The code of a system error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}

/** The error for work that the user or the work's owner canceled; never shown as a failure. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError'

  constructor(message = 'Cancelled') {
    super(message)
  }
}

/** The error for a request that isn't possible now or with this agent; shown as information, not as a failure. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
}

/** Whether the error is a `CancelledError`. Compares names, since only the name and the message of an error in another process arrive. */
export function isCancelled(error: unknown): error is Error & { name: 'CancelledError' } {
  return error instanceof Error && error.name === 'CancelledError'
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof Error && error.name === 'UnavailableError'
}
