import type * as z from 'zod'
import type { ElicitationOutcome, ElicitationRequest, FileChange } from '../../acp/model.ts'
import type { EditorToolName } from '../../common/editor-tool-names.ts'
import type { EditorFeatures } from './editor-features.ts'
import type { Roots } from './roots.ts'

/** The permission that a tool asks for. */
export interface ToolPermission {
  tool: EditorToolName
  /** the action as a title: `Rename parse to parseAll` */
  title: string
  kind: 'edit' | 'execute' | 'other'
  /** the code that would run */
  code?: string
  changes?: FileChange[]
}

/** The conversation whose agent called the tool. Each method rejects with a sentence if it has ended. */
export interface ToolConversation {
  /** Consults the rules, then asks the user. `work`, done if it's allowed, decides how the call is shown: failed if it rejects. */
  permitted<T>(permission: ToolPermission, signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Writes a file as one that the agent writes through the client: tracked as the session's change. */
  write(path: string, content: string, signal: AbortSignal): Promise<void>
  /** Asks the user in the conversation. */
  elicit(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome>
}

/** The objects that a tool works with. Conversations share none of them except the editor itself. */
export interface ToolContext {
  features: EditorFeatures
  roots: Roots
  /** The conversation; waits until the session is open. */
  conversation(): Promise<ToolConversation>
  /** The user has allowed this for the whole session. */
  readonly allowed: Set<EditorToolName>
  signal: AbortSignal
}

export interface EditorTool<Input = never> {
  name: EditorToolName
  title: string
  /** for the model */
  description: string
  input: z.ZodType<Input>
  /** Returns the answer. An expected failure throws a `ToolError`. */
  run(input: Input, context: ToolContext): Promise<ToolAnswer>
}

/**
 * `text`: what Parley says. `data`: text from files, languages or terminals, or containing such text; it's marked as data, since it must
 * not be read as instructions. A function creates a long line only when it's needed.
 */
export interface ToolAnswer {
  text?: string | undefined
  data?: ReadonlyArray<string | (() => string)> | string
  /** The data begins at this line of the whole. */
  offset?: number
}
