import * as l10n from '@vscode/l10n'
import type { PermissionOption } from '../../acp/model.ts'
import { hasHidden, plainMessage } from '../../common/visible.ts'
import type { Session } from '../../conversation/session.ts'
import type { ElicitationEntry, PermissionEntry } from '../../conversation/state.ts'
import { commandOf } from '../../conversation/tool-command.ts'

/** A request of a session that waits for the person, in words short enough for a notification. */
export interface WaitingQuestion {
  requestId: string
  text: string
  /** how many wait */
  count: number
  /** The text is all there is to see of it. */
  isWhole: boolean
  /** None: it has to be looked at before it can be answered. */
  options: readonly PermissionOption[]
}

/** What does not fit on one line of a notification, or would look otherwise there, is answered in the conversation only. Characters. */
const LONGEST = 200
/** All of them, oldest first. */
export function waitingQuestions(
  session: Pick<Session, 'pendingRequests' | 'permission'>,
): WaitingQuestion[] {
  const { pendingRequests } = session
  return pendingRequests.map(request => describe(session, request, pendingRequests.length))
}

/** The oldest of them. */
export function waitingQuestion(
  session: Pick<Session, 'pendingRequests' | 'permission'>,
): WaitingQuestion | undefined {
  const { pendingRequests } = session
  const [first] = pendingRequests
  return first && describe(session, first, pendingRequests.length)
}

function describe(
  session: Pick<Session, 'permission'>,
  request: PermissionEntry | ElicitationEntry,
  count: number,
): WaitingQuestion {
  const { requestId } = request
  if (request.kind === 'elicitation') return { requestId, ...shown(request.message), count, options: [] }
  const tool = session.permission(requestId)?.tool
  const command =
    request.command?.command ?? (tool?.toolKind === 'execute' ? commandOf(tool)?.command : undefined)
  const about = command ?? (tool?.title || request.description)
  const text =
    about === undefined || about === request.title ? request.title : `${request.title} ${about}`.trim()
  const whole = shown(text)
  return { requestId, ...whole, count, options: whole.isWhole ? request.options : [] }
}

/** The text, if it can be shown as a whole on one line and looks like what it is. */
function shown(text: string): { text: string; isWhole: boolean } {
  const isWhole =
    // a bracket could join a link that follows it
    text.length <= LONGEST && !/[\n\t[]/.test(text) && !hasHidden(text) && plainMessage(text) === text
  return { text: isWhole ? text : l10n.t("This question can't be shown here."), isWhole }
}
