/** The message to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name
  if (typeof error === 'string') return error
  if (
    typeof error === 'object' &&
    error !== null &&
    'message' in error &&
    typeof error.message === 'string'
  ) {
    return error.message
  }
  return String(error)
}

/** The user or the owner canceled the work; never shown as a failure. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError'

  constructor(message = 'Cancelled') {
    super(message)
  }
}

/** The request isn't possible now or with this agent; shown as information, not as a failure. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
}
