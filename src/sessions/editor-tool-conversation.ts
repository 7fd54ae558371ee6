import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import type { ElicitationOutcome, ElicitationRequest, ToolCallStatus } from '../acp/model.ts'
import { EDITOR_SERVER } from '../common/editor-tool-names.ts'
import type { Session } from '../conversation/session.ts'
import type { ToolConversation, ToolPermission } from '../mcp/server/tool.ts'
import { ToolError } from '../mcp/server/tool-error.ts'
import type { SessionServices } from './session-services.ts'

/**
 * The conversation in which the editor tools ask for permission and show their changes. Changes are shown as a separate tool call with
 * diffs, next to the call that the agent reports.
 */
export class EditorToolConversation implements ToolConversation {
  readonly #session: Session
  readonly #services: SessionServices

  constructor(session: Session, services: SessionServices) {
    this.#session = session
    this.#services = services
  }

  async permitted<T>(permission: ToolPermission, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { tool, title, kind, changes = [], code } = permission
    const name = `${EDITOR_SERVER}.${tool}`
    const toolCallId = `${name}:${randomUUID()}`
    const report = (status: ToolCallStatus) =>
      this.#session.receive({ type: 'tool_call', toolCall: { toolCallId, status } })
    this.#session.receive({
      type: 'tool_call',
      isNew: true,
      toolCall: {
        ...{ toolCallId, title, name, kind, status: 'pending' },
        locations: changes.map(({ path }) => ({ path })),
        ...(changes.length > 0 && { content: [{ type: 'diff', changes }] }),
      },
    })
    const outcome = await this.#session.requests.requestPermission(
      {
        sessionId: this.#session.sessionId,
        title,
        ...(code !== undefined && { code }),
        subject: { type: 'tool_call', toolCall: { toolCallId } },
        options: [
          { optionId: 'once', name: l10n.t('Allow once'), kind: 'allow_once' },
          { optionId: 'refuse', name: l10n.t('Reject'), kind: 'reject_once' },
        ],
        editorTool: name,
      },
      signal,
    )
    if (outcome.type === 'cancelled' || outcome.optionId !== 'once') {
      report('cancelled')
      throw new ToolError(
        outcome.type === 'cancelled'
          ? 'The question was withdrawn before the user answered it. Nothing was done.'
          : 'The user, or a rule of the user, rejected it. Nothing was done.',
      )
    }
    report('in_progress')
    try {
      const result = await work()
      report('completed')
      return result
    } catch (error) {
      report('failed')
      throw error
    }
  }

  write(path: string, content: string, signal: AbortSignal): Promise<void> {
    return this.#services.writeTextFile({ sessionId: this.#session.sessionId, path, content }, signal)
  }

  elicit(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome> {
    return this.#session.requests.createElicitation(
      { ...request, sessionId: this.#session.sessionId },
      signal,
    )
  }
}
