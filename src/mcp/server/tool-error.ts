/** A failure that the model can do something about. Its message contains no data; `data` are lines as in an answer. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly data: readonly string[]

  constructor(message: string, data: readonly string[] = []) {
    super(message)
    this.data = data
  }
}
