import * as l10n from '@vscode/l10n'
import type { PermissionOption } from '../../acp/model.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { Session } from '../../conversation/session.ts'
import { commandOf } from '../../conversation/tool-command.ts'

/** The oldest question of a session that waits for the person, in words short enough for a notification. */
export interface WaitingQuestion {
  requestId: string
  text: string
  /** how many wait */
  count: number
  /** None: it has to be looked at before it can be answered. */
  options: readonly PermissionOption[]
}

/** What does not fit on one line of a notification, or would look otherwise there, is answered in the conversation only. Characters. */
const LONGEST = 200
/** Signs that are not seen, or seen as something else. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/

export function waitingQuestion(
  session: Pick<Session, 'openQuestions' | 'permission'>,
): WaitingQuestion | undefined {
  const { openQuestions } = session
  const [first] = openQuestions
  if (!first) return undefined
  const { requestId } = first
  const count = openQuestions.length
  if (first.kind === 'elicitation') return { requestId, text: first.message, count, options: [] }
  const tool = session.permission(requestId)?.tool
  const command =
    first.command?.command ?? (tool?.toolKind === 'execute' ? commandOf(tool)?.command : undefined)
  const about = command ?? (tool?.title || first.description)
  const text = about === undefined || about === first.title ? first.title : `${first.title} ${about}`.trim()
  const whole = text.length <= LONGEST && !HIDDEN.test(text) && plainMessage(text) === text
  return {
    requestId,
    text: whole ? text : l10n.t('A question that cannot be shown here.'),
    count,
    options: whole ? first.options : [],
  }
}
