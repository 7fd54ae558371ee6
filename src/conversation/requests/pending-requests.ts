import { randomUUID } from 'node:crypto'
import type {
  ElicitationOutcome,
  ElicitationRequest,
  PermissionOutcome,
  PermissionRequest,
} from '../../acp/model.ts'
import { matchesInTime } from '../../common/timed-regexp.ts'
import type { ConversationState } from '../conversation-state.ts'
import { openRequests } from '../entries/requests.ts'
import { toolCallOf } from '../entries/tool-call.ts'
import type { LocalEvent } from '../reducer/reduce-local.ts'
import type {
  AnswerByRule,
  CompletePermission,
  ElicitationEntry,
  Entry,
  PermissionEntry,
  ToolCallEntry,
} from '../state.ts'
import { checkContent } from './elicitation.ts'
import { asksSame, detailsOf, entriesOfRequests, requestOf } from './shown-requests.ts'

interface PendingOf<Request, Outcome> {
  /** A random id, so that no other request ever has the same id: in another session, in a fork, or after a restart. */
  readonly requestId: string
  request: Request
  readonly resolve: (outcome: Outcome) => void
  /** aborts when the request ends */
  readonly over: AbortController
  /** Whether the user sees the request. Before that, the rules are consulted. */
  shown: boolean
}
/** `isRuled`: rules may answer the request. `asksAgain`: the user's permissions changed while the rules were consulted. */
type PendingPermission = {
  kind: 'permission'
  refusal?: string
  isRuled?: true
  asksAgain?: boolean
} & PendingOf<PermissionRequest, PermissionOutcome>
type PendingElicitation = { kind: 'elicitation' } & PendingOf<ElicitationRequest, ElicitationOutcome>
type Pending = PendingPermission | PendingElicitation

/** A request that an earlier window showed and that the agent hasn't repeated yet. */
interface Earlier {
  readonly requestId: string
  readonly request: PermissionRequest | ElicitationRequest
  /** the outcome if the user answered before the agent repeats the request, and the details that the user saw */
  outcome?: PermissionOutcome | ElicitationOutcome
  details?: string
}

/**
 * The pending requests of a session: permissions and elicitations. No other code decides whether a request is pending. A request is pending
 * from the moment the agent sends it until it is answered or withdrawn, exactly once. The agent gets only the answer given under the
 * request's own id, or `cancelled`.
 */
export class PendingRequests {
  readonly #conversation: ConversationState
  readonly #sessionId: string
  readonly #isLive: () => boolean
  readonly #pending = new Map<string, Pending>()
  readonly #earlier = new Set<Earlier>()

  /** Reads the data that a permission request needs; set by the owner of the session. */
  complete: CompletePermission | undefined
  /** Answers permission requests by the user's rules; set by the owner of the session. */
  answerByRule: AnswerByRule | undefined
  /**
   * Whether rules don't answer, since the user is asked about the session. Requests that are shown meanwhile are checked against the rules
   * afterward.
   */
  isHeld = false

  constructor(conversation: ConversationState, sessionId: string, isLive: () => boolean) {
    this.#conversation = conversation
    this.#sessionId = sessionId
    this.#isLive = isLive
  }

  /** The pending requests in the conversation, oldest first. */
  get open(): Array<PermissionEntry | ElicitationEntry> {
    return openRequests(this.#conversation.state)
  }

  /** The entries needed to display pending requests: the requests, their tool calls and their subagents. */
  get entries(): Entry[] {
    return entriesOfRequests(this.#conversation.state)
  }

  /** Consults the rules, then asks the user. Resolves to `cancelled` if the request is withdrawn by the agent (`signal`) or here. */
  requestPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    return this.#requestPermission(request, signal, pending => {
      pending.isRuled = true
      if (!pending.shown) void this.#consultRules(pending)
    })
  }

  /** Consults the rules again about pending requests, since the user's permissions have changed. */
  consultAgain(): void {
    for (const pending of this.#pending.values()) {
      if (pending.kind !== 'permission' || !pending.isRuled) continue
      if (pending.shown) void this.#consultRules(pending)
      else pending.asksAgain = true
    }
  }

  /** Asks the user, like `requestPermission`, but without consulting the rules. */
  askUser(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    return this.#requestPermission(request, signal, pending => {
      if (!pending.shown) this.#show(pending)
    })
  }

  /** Asks the user. Resolves to `cancel` if the request is withdrawn by the agent (`signal`) or here. */
  createElicitation(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome> {
    if (!this.#isLive() || signal.aborted) return Promise.resolve({ action: 'cancel' })
    const earlier = this.#take(request)
    if (earlier?.outcome) return Promise.resolve(earlier.outcome as ElicitationOutcome)
    return new Promise(resolve => {
      const pending = this.#add({ kind: 'elicitation', ...newRequest(request, resolve, earlier) }, signal)
      if (!pending.shown) this.#show(pending)
    })
  }

  /**
   * Answers a permission request; `optionId` `undefined` cancels. Returns false and does nothing if the request isn't pending or has no
   * such option.
   */
  answerPermission(requestId: string, optionId: string | undefined): boolean {
    const pending = this.#shown(requestId, 'permission')
    if (!pending) return false
    if (optionId === undefined) {
      this.#end(pending, { type: 'cancelled' })
      return true
    }
    if (!pending.request.options.some(option => option.optionId === optionId)) return false
    this.#end(pending, { type: 'selected', optionId })
    return true
  }

  /** Checks `answer` and answers an elicitation. Returns false and does nothing if the request isn't pending or the content is invalid. */
  answerElicitation(requestId: string, answer: ElicitationOutcome): boolean {
    const pending = this.#shown(requestId, 'elicitation')
    if (!pending) return false
    const { request } = pending
    if (answer.action !== 'accept' || request.mode === 'url') {
      this.#end(pending, { action: answer.action })
      return true
    }
    const checked = checkContent(request.fields, answer.content ?? {}, matchesInTime)
    if (!checked.ok) return false
    this.#end(pending, { action: 'accept', content: checked.content })
    return true
  }

  /** Returns the pending permission request with this id, with the current state of its tool call. */
  permission(requestId: string): { request: PermissionRequest; tool: ToolCallEntry | undefined } | undefined {
    const request = this.#shown(requestId, 'permission')?.request
    return request && { request, tool: this.#toolOf(request) }
  }

  /** Returns the pending form or URL with this id. */
  elicitation(requestId: string): ElicitationRequest | undefined {
    return this.#shown(requestId, 'elicitation')?.request
  }

  /** Cancels the requests that are no longer needed: the requests for which `over` returns true. */
  withdraw(over: (request: PermissionRequest | ElicitationRequest) => boolean = () => true): void {
    // report one change for all requests, since there may be a thousand
    this.#conversation.together(() => {
      for (const pending of [...this.#pending.values()]) if (over(pending.request)) this.#cancel(pending)
    })
  }

  /** Shows the pending requests, and no others, in a conversation that was replaced, such as by a load. */
  showAgain(): void {
    const shown = new Set(this.#conversation.state.memory.openRequests.keys())
    for (const pending of this.#pending.values()) {
      if (pending.shown && !shown.delete(pending.requestId)) this.#show(pending)
    }
    for (const requestId of shown) this.#conversation.applyLocal({ type: 'request_closed', requestId })
  }

  /**
   * Lets the user answer pending requests that an earlier window showed, before the agent repeats them. The repeated request then gets the
   * answer.
   */
  expectShown(): void {
    for (const entry of this.open) {
      const { kind, requestId } = entry
      const earlier: Earlier = { requestId, request: requestOf(entry, this.#sessionId) }
      const keep = (outcome: PermissionOutcome | ElicitationOutcome) => {
        earlier.outcome = outcome
        earlier.details = this.#detailsOf(earlier.request)
      }
      this.#earlier.add(earlier)
      this.#pending.set(requestId, { kind, ...newRequest(earlier.request, keep, earlier) } as Pending)
    }
  }

  /** Closes the requests that the agent hasn't repeated: it has repeated all that are still pending. */
  repeated(): void {
    for (const { requestId, outcome } of this.#earlier) if (!outcome) this.#pending.delete(requestId)
    this.#earlier.clear()
    this.showAgain()
  }

  #requestPermission(
    request: PermissionRequest,
    signal: AbortSignal,
    ask: (pending: PendingPermission) => void,
  ): Promise<PermissionOutcome> {
    if (!this.#isLive() || signal.aborted) return Promise.resolve({ type: 'cancelled' })
    const earlier = this.#take(request)
    if (earlier?.outcome) return Promise.resolve(earlier.outcome as PermissionOutcome)
    return new Promise(resolve => {
      ask(this.#add({ kind: 'permission', ...newRequest(request, resolve, earlier) }, signal))
    })
  }

  async #consultRules(pending: PendingPermission): Promise<void> {
    const { requestId, over } = pending
    const completing = pending.shown
      ? undefined
      : this.complete?.(pending.request, this.#toolOf(pending.request))
    if (completing) {
      pending.request = await completing
      if (over.signal.aborted) return
    }
    const { request } = pending
    const consulted = this.isHeld
      ? undefined
      : this.answerByRule?.(request, this.#toolOf(request), over.signal)
    const found = consulted && (await consulted)
    if (over.signal.aborted) return
    const answer = this.isHeld ? undefined : found
    if (!answer || 'refusal' in answer) {
      if (pending.shown) return
      if (pending.asksAgain) {
        pending.asksAgain = false
        return this.#consultRules(pending)
      }
      if (answer) pending.refusal = answer.refusal
      this.#show(pending)
      return
    }
    const { optionId, rule } = answer
    const outcome: PermissionOutcome = { type: 'selected', optionId }
    this.#end(
      pending,
      outcome,
      pending.shown
        ? { type: 'request_answered', requestId, outcome, rule }
        : { type: 'permission_ruled', requestId, request, answer },
    )
  }

  #add<P extends Pending>(pending: P, signal: AbortSignal): P {
    this.#pending.set(pending.requestId, pending)
    const { signal: over } = pending.over
    signal.addEventListener('abort', () => this.#cancel(pending), { once: true, signal: over })
    return pending
  }

  #show(pending: Pending): void {
    pending.shown = true
    const { requestId } = pending
    if (pending.kind === 'elicitation') {
      this.#conversation.applyLocal({ type: 'elicitation_asked', requestId, request: pending.request })
      return
    }
    const { request, refusal } = pending
    this.#conversation.applyLocal({
      type: 'permission_asked',
      requestId,
      request,
      ...(refusal !== undefined && { refusal }),
    })
  }

  #shown<K extends Pending['kind']>(requestId: string, kind: K): Extract<Pending, { kind: K }> | undefined {
    const pending = this.#pending.get(requestId)
    return pending?.shown && pending.kind === kind ? (pending as Extract<Pending, { kind: K }>) : undefined
  }

  #cancel(pending: Pending): void {
    if (pending.kind === 'permission') this.#end(pending, { type: 'cancelled' })
    else this.#end(pending, { action: 'cancel' })
  }

  /** Ends a pending request; no other code does. `event`: how the conversation shows the end; by default as answered. */
  #end<Outcome extends PermissionOutcome | ElicitationOutcome>(
    { requestId, shown, over, resolve }: PendingOf<unknown, Outcome>,
    outcome: Outcome,
    event?: LocalEvent,
  ): void {
    if (!this.#pending.delete(requestId)) return
    over.abort()
    if (event) this.#conversation.applyLocal(event)
    else if (shown) this.#conversation.applyLocal({ type: 'request_answered', requestId, outcome })
    resolve(outcome)
  }

  /** Returns and removes the earlier request that the agent repeats with this one. */
  #take(request: PermissionRequest | ElicitationRequest): Earlier | undefined {
    for (const earlier of this.#earlier) {
      if (!asksSame(request, earlier.request)) continue
      this.#earlier.delete(earlier)
      // if the user has answered the earlier request, the repeated one must have the content that the user saw
      const { outcome, details } = earlier
      return !outcome || isCancel(outcome) || details === this.#detailsOf(request) ? earlier : undefined
    }
    return undefined
  }

  /** Returns the tool call of a request, updated with the data of the request. */
  #toolOf(request: PermissionRequest): ToolCallEntry | undefined {
    const { state } = this.#conversation
    // a subagent has its own tool calls
    return toolCallOf(state.memory.subagentStates.get(request.sessionId) ?? state, request)
  }

  #detailsOf(request: PermissionRequest | ElicitationRequest): string {
    return detailsOf(request, 'subject' in request ? this.#toolOf(request) : undefined)
  }
}

function newRequest<Request extends PermissionRequest | ElicitationRequest, Outcome>(
  request: Request,
  resolve: (outcome: Outcome) => void,
  earlier?: Earlier,
): PendingOf<Request, Outcome> {
  const requestId = earlier?.requestId ?? randomUUID()
  return { requestId, request, resolve, over: new AbortController(), shown: earlier !== undefined }
}

function isCancel(outcome: PermissionOutcome | ElicitationOutcome): boolean {
  return 'type' in outcome ? outcome.type === 'cancelled' : outcome.action === 'cancel'
}
