import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import { type Disposable, DisposableStore, Owner, toDisposable } from '../../common/disposable.ts'
import { UnavailableError } from '../../common/errors.ts'
import { Emitter, type Event } from '../../common/event.ts'
import { type PlanPlace, planPlace, planUri } from '../../common/plan-uri.ts'
import { visibleProse } from '../../common/visible.ts'
import { TOOL_CALL } from '../../conversation/entries/tool-call.ts'
import { chosenOption } from '../../conversation/permission-outcome.ts'
import { type PlanOptions, planOf, planOptions } from '../../conversation/plan-question.ts'
import { outcomeText } from '../../conversation/requests/permission-text.ts'
import type { PermissionEntry, ToolCallEntry } from '../../conversation/state.ts'
import { entryAt, positionsOf, type ReducerState } from '../../conversation/step.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { OpenSessions } from '../../sessions/open-sessions.ts'
import type { Dialogs } from '../workbench.ts'
import type { ConversationSurfaces } from './conversation-surface.ts'
import type { LineComments } from './line-comments.ts'

/** What the editor needs to show the documents of plans. */
export type PlanSource = Pick<PlanDocuments, 'onDidOpen' | 'follow' | 'accept' | 'sendComments'>

/** A plan as its document shows it. */
export interface ShownPlan {
  /** the plan as Markdown; `undefined` if the conversation isn't open here, or no longer has the plan */
  text: string | undefined
  /** the possible answers; absent if the plan can no longer be answered */
  pending?: { requestId: string } & PlanOptions
  /** the answer, or the reason why the plan can't be answered; empty while the plan is pending */
  outcome: string
}

interface PlanDocumentsOptions {
  sessions: Pick<OpenSessions, 'withKey' | 'onDidChange'>
  surfaces: ConversationSurfaces
  comments: Pick<LineComments, 'inDraft' | 'leaveDraft'>
  dialogs: Pick<Dialogs, 'confirm' | 'showStatus'>
}

/**
 * The documents of plans that agents present with a question. The question also stays in the conversation, and can be answered there or in
 * the document. Comments on a plan's lines are part of its conversation's draft, so they survive a reload.
 */
export class PlanDocuments extends Owner {
  readonly #options: PlanDocumentsOptions
  readonly #open = this.register(new Emitter<string>())

  /** Fires with the URI of a plan that the user wants to see. */
  readonly onDidOpen: Event<string> = this.#open.event

  constructor(options: PlanDocumentsOptions) {
    super()
    this.#options = options
  }

  /** Opens the plan about which a pending request asks. */
  open({ key, session }: OpenSession, requestId: string): void {
    const request = session.requests.open.find(one => one.requestId === requestId)
    const { toolCallId } = request ?? {}
    if (toolCallId === undefined) throw new UnavailableError(answeredText())
    const uri = planUri({ key, toolCallId })
    if (uri === undefined)
      throw new UnavailableError(l10n.t('The ids of this plan are too long to open it as a document.'))
    this.#open.fire(uri)
  }

  plan(uri: string): ShownPlan {
    const { open, place } = this.#find(uri)
    const gone = l10n.t("This plan's conversation isn't open.")
    if (!open || !place) return { text: undefined, outcome: gone }
    const request = open.session.requests.open.find(one => one.toolCallId === place.toolCallId)
    const tool = toolOf(open, place, request)
    const text = tool && planOf(tool)
    // the agent may use the id again for a tool call that isn't a plan, and its question isn't answered here
    if (text !== undefined && request?.kind === 'permission')
      return { text, pending: { requestId: request.requestId, ...planOptions(request) }, outcome: '' }
    return { text, outcome: outcomeOf(open, place) }
  }

  /** Calls the listener with the plan at once, and again when the plan or its outcome changes. */
  follow(uri: string, listener: (plan: ShownPlan) => void): Disposable {
    const { sessions } = this.#options
    const own = new DisposableStore()
    let followed: OpenSession | undefined
    let watch: Disposable | undefined
    let sent: ShownPlan | undefined
    const tell = () => {
      const plan = this.plan(uri)
      if (isDeepStrictEqual(plan, sent)) return
      sent = plan
      listener(plan)
    }
    const attach = () => {
      const { open } = this.#find(uri)
      if (open !== followed || !watch) {
        watch?.dispose()
        followed = open
        watch = open?.session.onDidChange(changes => {
          if (changes.some(({ type }) => type === 'entry' || type === 'reset')) tell()
        })
      }
      tell()
    }
    own.add(sessions.onDidChange(attach))
    own.add(toDisposable(() => watch?.dispose()))
    attach()
    return own
  }

  /** Accepts a plan. If the option allows more than this plan, the user first confirms its description. */
  async accept(uri: string, answer: 'accept' | 'acceptCleared'): Promise<void> {
    const { pending } = this.plan(uri)
    const option = pending?.[answer]
    if (option?.kind === 'allow_always') {
      const accept = l10n.t('Accept')
      const chosen = await this.#options.dialogs.confirm(
        l10n.t('Accept this plan and what follows?'),
        { detail: l10n.t('The agent describes this answer as “{0}”.', visibleProse(option.name)) },
        accept,
      )
      if (chosen !== accept) return
    }
    // the plan may have a new request by now, which the user hasn't seen
    this.#answer(uri, answer, pending?.requestId)
  }

  /** Rejects the plan with the comments on its lines as the reason. */
  async sendComments(uri: string): Promise<void> {
    const { comments, surfaces, dialogs } = this.#options
    const { open, place } = this.#find(uri)
    const items = place ? comments.inDraft(place.key, uri) : []
    if (!open || !place || !this.plan(uri).pending) throw new UnavailableError(answeredText())
    if (items.length === 0) throw new UnavailableError(l10n.t('Comment on a line of the plan first.'))
    this.#answer(uri, 'reject')
    const draft = { text: l10n.t('Revise the plan by these comments.'), chips: [], items }
    const { prompts } = (surfaces.withKey(place.key) ?? surfaces.active).controller
    prompts.enqueue(place.key, { id: randomUUID(), draft }, { joins: true })
    comments.leaveDraft(place.key, items)
    dialogs.showStatus(l10n.t('Comments sent to {0}', open.agentName))
  }

  /** Answers the plan's pending request. With `asked`, answers only the request with this id. */
  #answer(uri: string, answer: keyof PlanOptions, asked?: string): void {
    const { pending } = this.plan(uri)
    if (!pending || (asked !== undefined && asked !== pending.requestId))
      throw new UnavailableError(answeredText())
    const option = pending[answer]
    if (!option) throw new UnavailableError(l10n.t("The agent doesn't offer this answer."))
    const requests = this.#find(uri).open?.session.requests
    if (!requests?.answerPermission(pending.requestId, option.optionId))
      throw new UnavailableError(answeredText())
  }

  #find(uri: string): { open?: OpenSession; place?: PlanPlace } {
    const place = planPlace(uri)
    const open = place && this.#options.sessions.withKey(place.key)
    return { ...(open && { open }), ...(place && { place }) }
  }
}

function answeredText(): string {
  return l10n.t('This plan was already answered.')
}

/** Returns the tool call of a plan, which may belong to a subagent. `asking`: only if the plan is pending. */
function toolOf(
  { session }: OpenSession,
  { toolCallId }: PlanPlace,
  asking?: { within?: string },
): ToolCallEntry | undefined {
  const { state } = session.conversation
  const all: ReducerState[] = [state, ...state.memory.subagentStates.values()]
  for (const { memory, within } of all) {
    if (asking && asking.within !== within) continue
    const entry = entryAt(state, positionsOf(memory, TOOL_CALL).get(toolCallId), TOOL_CALL)
    if (entry) return entry
  }
  return undefined
}

function outcomeOf({ session }: OpenSession, { toolCallId }: PlanPlace): string {
  const asked = session.state.entries.findLast(
    (entry): entry is PermissionEntry => entry.kind === 'permission' && entry.toolCallId === toolCallId,
  )
  const chosen = asked && chosenOption(asked)
  if (!chosen) return l10n.t('This plan is no longer pending.')
  return `${outcomeText(chosen.kind, l10n.t)}: ${chosen.name}`
}
