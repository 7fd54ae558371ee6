/** Where a part of the house writes what happened. VS Code's `LogOutputChannel` is one. */
export interface Logger {
  trace(message: string): void
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export const silentLogger: Logger = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }
