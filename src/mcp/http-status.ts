import { SdkHttpError, SseError, UnauthorizedError } from '@modelcontextprotocol/client'

/** The HTTP status that an error of the SDK is about. */
export function httpStatusOf(error: unknown): number | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof UnauthorizedError) return 401
    if (one instanceof SdkHttpError) return one.status
    if (one instanceof SseError && one.code !== undefined && one.code >= 300) return one.code
  }
  return undefined
}
