import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { PermissionOption, ToolCallContent } from '../../../acp/model.ts'
import { isCut } from '../../../bridge/conversation.ts'
import { visible, visibleProse } from '../../../common/visible.ts'
import { mcpToolText } from '../../../conversation/mcp-tool-call.ts'
import { chosenOption, isRefused } from '../../../conversation/permission-outcome.ts'
import { planOf } from '../../../conversation/plan-question.ts'
import { optionHint, optionName, outcomeText } from '../../../conversation/requests/permission-text.ts'
import type { PermissionEntry, ToolCallEntry } from '../../../conversation/state.ts'
import {
  besideCommand,
  commandOf,
  folderIn,
  repeatsCommand,
  type ToolCommand,
} from '../../../conversation/tool-command.ts'
import { t } from '../../l10n.ts'
import { pretty, rawCode } from '../../tools/raw.ts'
import { relativePath, titleOfTool, withoutInput } from '../../tools/title.ts'
import { controlKey } from '../../ui/control-key.ts'
import { Icon } from '../../ui/icon.tsx'
import { LoadingPart, lazy } from '../../ui/lazy.tsx'
import { Popup } from '../../ui/popup.tsx'
import { PlainCode } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'
import { questionsDrawn } from '../navigation/question-focus.ts'
import type { EntrySlot } from '../slot.ts'
import { returnReason } from '../unsent-answers.ts'
import { askedTool, Decision, optionTitle, questionTitle, ruleAnswer } from './decision.tsx'
import { Line, ToolTitle } from './line.tsx'
import { ToolContent, useWhole } from './tool-call.tsx'

const RuleOffers = lazy(() => import('./always-allow.tsx').then(module => module.RuleOffers))
const RejectReason = lazy(() => import('./reject-reason.tsx').then(module => module.RejectReason))

/** Smaller movements of the pointer count as a click. CSS pixels. */
const IN_PLACE = 8

/**
 * Handles a press and release at the same position, even if the button moved away from the pointer meanwhile because
 * content above it was added or removed; the browser doesn't report a click then.
 */
function answerOnRelease(down: PointerEvent, answer: () => void): void {
  if (down.button !== 0) return
  const button = down.currentTarget as Element
  const over = new AbortController()
  const once = { capture: true, signal: over.signal }
  const end = (up: PointerEvent) => {
    if (up.pointerId !== down.pointerId) return
    over.abort()
    if (up.type !== 'pointerup' || button.contains(up.target as Node)) return
    if (Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY) < IN_PLACE) answer()
  }
  window.addEventListener('pointerup', end, once)
  window.addEventListener('pointercancel', end, once)
  window.addEventListener('blur', () => over.abort(), { signal: over.signal })
}

/** whether a request was drawn before; the first request of a page may have waited for this module to load */
let hasDrawn = false

/** A permission request: a box while it's pending, a line after it's answered. */
export function Permission({ slot }: { slot: EntrySlot }) {
  const entry = slot.entry.value as PermissionEntry
  return entry.outcome ? <Answered slot={slot} entry={entry} /> : <Question slot={slot} entry={entry} />
}

function Question({ slot, entry }: { slot: EntrySlot; entry: PermissionEntry }) {
  const app = useApp()
  const { store } = app
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!hasDrawn) questionsDrawn.value++
    hasDrawn = true
  }, [])
  const first = store.waiting.value[0] === slot.id
  const { call } = slot
  const tool = call?.entry.value.kind === 'tool_call' ? call.entry.value : undefined
  const all = store.waiting.value
  const count = all.length > 1 ? t('{0} of {1}', all.indexOf(slot.id) + 1, all.length) : undefined
  const called = askedTool(entry, tool)
  const asked = visibleProse(called ? mcpToolText(called, t) : entry.title)
  const label = entry.outlastsTurn ? asked : t('Permission needed: {0}', asked)

  if (!first && !slot.open.value) {
    return (
      // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and draws one
      <div class="permission behind" role="group" aria-label={label} data-request={entry.requestId}>
        <Line icon="shield" open={false} onToggle={() => app.toggle(slot)} end={count}>
          <Asked entry={entry} tool={tool} />
        </Line>
      </div>
    )
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and draws one
    <div
      ref={box}
      class={`permission${first ? ' first' : ''}`}
      role="group"
      aria-label={label}
      data-request={entry.requestId}
      tabIndex={-1}
    >
      <div class="card-head">
        <Icon name="shield" class="card-icon" />
        <div class="card-title" dir="auto">
          {questionTitle(entry, tool, store.head.value?.roots)}
        </div>
        {count && <div class="permission-count">{count}</div>}
      </div>
      {entry.description && !isShownAbove(entry.description, entry, tool) && (
        <div class="card-text" dir="auto">
          {visibleProse(entry.description)}
        </div>
      )}
      <Subject entry={entry} tool={tool} slot={call} />
      {entry.refusal && <div class="quiet card-text">{visibleProse(entry.refusal)}</div>}
      <Answers slot={slot} entry={entry} tool={tool} first={first} />
    </div>
  )
}

interface AnswersProps {
  slot: EntrySlot
  entry: PermissionEntry
  tool: ToolCallEntry | undefined
  /** whether it's the request that keys answer */
  first: boolean
}

/** The options of a request, and other ways to answer. */
function Answers({ slot, entry, tool, first }: AnswersProps) {
  const { host } = useApp()
  const primary = primaryOption(entry)
  const rejection = entry.isChoice ? undefined : entry.options.find(({ kind }) => kind === 'reject_once')
  const answer = (optionId?: string) =>
    host.send('conversation/permission', { requestId: entry.requestId, optionId })
  return (
    <div class={`permission-options${needsRows(entry) ? ' rows' : ''}`}>
      {entry.options.map((option, i) => (
        <button
          key={option.optionId}
          type="button"
          class={`button ${first && option === primary ? 'primary' : 'secondary'}`}
          data-option={i + 1}
          data-primary={option === primary ? '' : undefined}
          data-kind={entry.isChoice ? undefined : option.kind}
          title={entry.isChoice ? undefined : titleWithKey(option, entry.options)}
          onPointerDown={event => answerOnRelease(event, () => answer(option.optionId))}
          onClick={() => answer(option.optionId)}
        >
          {first && i < 9 && <Key number={i + 1} />}
          <span class="button-label" dir="auto">
            {optionName(option, t)}
          </span>
          {!entry.isChoice && <OptionHint option={option} />}
        </button>
      ))}
      {entry.options.length === 0 && (
        <button
          type="button"
          class="button secondary"
          onPointerDown={event => answerOnRelease(event, () => answer())}
          onClick={() => answer()}
        >
          <span class="button-label">{t('Cancel')}</span>
        </button>
      )}
      {tool && planOf(tool) !== undefined && (
        <button
          type="button"
          class="link-button permission-more"
          title={t('Opens the plan as a document with lines to comment on')}
          onClick={() => host.send('conversation/openPlan', { requestId: entry.requestId })}
        >
          {t('Open Plan')}
        </button>
      )}
      {rejection && (
        <PopupButton
          label={t('Reject with Reason…')}
          number={first && entry.options.length < 9 ? entry.options.length + 1 : undefined}
          title={t('Rejects this and tells the agent what to do instead')}
          heading={t('Reject with Reason')}
        >
          {(answered, close) => (
            <RejectReason slot={slot} option={rejection} onAnswered={answered} onCancel={close} />
          )}
        </PopupButton>
      )}
      {(entry.command || tool) && entry.options.some(option => option.kind.startsWith('allow')) && (
        <PopupButton
          label={t('Create Rule…')}
          title={t('Creates a rule that allows this automatically')}
          heading={t('Create Permission Rule')}
        >
          {(saved, close) => <RuleOffers requestId={entry.requestId} onSaved={saved} onCancel={close} />}
        </PopupButton>
      )}
    </div>
  )
}

/** Focuses a popup's content even while it loads: a digit typed now is meant for the popup, and would otherwise answer the request. */
function takeFocus(content: HTMLElement | null): void {
  if (content && !content.contains(document.activeElement)) content.focus()
}

/** The digit that selects an option. */
function Key({ number }: { number: number }) {
  return (
    <span class="key" aria-hidden="true">
      {number}
    </span>
  )
}

interface PopupButtonProps {
  label: string
  title: string
  /** the digit that opens the popup */
  number?: number | undefined
  /** the heading of the popup */
  heading: string
  /** The popup's content. `answered`: must be called when the popup has answered the request. */
  children: (answered: () => void, close: () => void) => ComponentChildren
}

/** A button with a popup for another way to answer. The button is rendered with the other buttons, so that no button moves later. */
function PopupButton({ label, title, number, heading, children }: PopupButtonProps) {
  const button = useRef<HTMLButtonElement>(null)
  const { composer } = useApp()
  const [open, setOpen] = useState(false)
  // the button disappears with the request, so the focus moves to the composer, unless another request has it by now
  const answered = useCallback(() => {
    const { activeElement } = document
    setOpen(false)
    if (activeElement === document.body || activeElement?.closest('.permission-popup'))
      composer.current?.focus()
  }, [composer])
  const close = useCallback(() => {
    setOpen(false)
    button.current?.focus()
  }, [])
  return (
    <>
      <button
        ref={button}
        type="button"
        class="link-button permission-more"
        data-option={number}
        aria-haspopup="dialog"
        aria-expanded={open}
        title={title}
        onClick={() => setOpen(!open)}
      >
        {number !== undefined && <Key number={number} />}
        {label}
      </button>
      {open && (
        <Popup anchor={button} onClose={close} class="permission-popup" label={heading}>
          <div class="permission-popup-content" ref={takeFocus} tabIndex={-1}>
            <h2>{heading}</h2>
            {children(answered, close)}
          </div>
        </Popup>
      )}
    </>
  )
}

/** The effect of an option, if the option's name doesn't tell. */
function OptionHint({ option }: { option: PermissionOption }) {
  const hint = optionHint(option, t)
  return hint === undefined ? null : <span class="option-hint">{hint}</span>
}

/** Returns an option's title with its shortcut, which only the first of several options of the same kind has. */
function titleWithKey(option: PermissionOption, options: readonly PermissionOption[]): string {
  const title = optionTitle(option)
  if (options.find(({ kind }) => kind === option.kind) !== option) return title
  if (option.kind === 'allow_once') return `${title}\n${controlKey()}+Enter`
  return option.kind === 'reject_once' ? `${title}\n${controlKey()}+Backspace` : title
}

/** Whether the options are stacked because they don't fit side by side in a side bar; a stack is easier to read than wrapped lines. */
function needsRows({ options, isChoice }: PermissionEntry): boolean {
  const title = isChoice ? ({ name }: PermissionOption) => name : optionTitle
  const letters = options.reduce((all, option) => all + title(option).length + 6, 0)
  return options.length > 1 && letters > 44
}

/** The subject of the request, on one line. */
function Asked({ entry, tool }: { entry: PermissionEntry; tool: ToolCallEntry | undefined }) {
  const { store } = useApp()
  const { command } = subjectCommand(entry, tool)
  const called = askedTool(entry, tool)
  const title =
    command ??
    (called && mcpToolText(called, t)) ??
    (tool && (tool.title !== '' || entry.title === '') ? titleOfTool(tool) : entry.title)
  // hidden characters are spelled out in text and code
  return <ToolTitle title={title} roots={store.head.value?.roots} code={command !== undefined} />
}

function subjectCommand(entry: PermissionEntry, tool: ToolCallEntry | undefined): Partial<ToolCommand> {
  if (entry.command) return entry.command
  const found = tool?.toolKind === 'execute' ? commandOf(tool) : undefined
  if (!tool || !found) return {}
  const cwd = found.cwd ?? textsOf(tool).map(folderIn).find(Boolean)
  return { ...found, ...(cwd !== undefined && { cwd }) }
}

/** Returns the part of the tool call's title that the question and the content don't show; empty if they show everything. */
function aboutTool(entry: PermissionEntry, tool: ToolCallEntry, command: string | undefined): string {
  const called = askedTool(entry, tool)
  // the question names the tool, and the input is below it
  if (called) return showsInput(tool) || called.subject === undefined ? '' : called.subject
  if (withoutInput(tool) === '' && (command !== undefined || !tool.toolName)) return ''
  const title = titleOfTool(tool)
  if (command !== undefined) return besideCommand(title, command)
  if (questionTitle(entry, tool, undefined) === t('Allow using {0}?', title)) return ''
  return tool.content.some(content => content.type === 'diff') ? '' : title
}

/** Whether the tool's input is shown: as content from the agent, or because there is no other content. */
function showsInput(tool: ToolCallEntry): boolean {
  return tool.content.length === 0 || textsOf(tool).some(text => /^\s*\{/.test(text))
}

function textsOf({ content }: ToolCallEntry): string[] {
  return content.flatMap(one =>
    one.type === 'content' && one.content.type === 'text' ? [one.content.text] : [],
  )
}

/** Whether the text repeats the request's title or its command. */
function isShownAbove(text: string, entry: PermissionEntry, tool: ToolCallEntry | undefined): boolean {
  const { command } = subjectCommand(entry, tool)
  const said = text.trim()
  return said === entry.title.trim() || (command !== undefined && repeatsCommand(said, command))
}

/** Whether the content is already shown above: the full command, its folder, the title or the description. */
function repeats(content: ToolCallContent, entry: PermissionEntry, tool: ToolCallEntry): boolean {
  if (content.type !== 'content' || content.content.type !== 'text') return false
  const { text } = content.content
  const { command } = subjectCommand(entry, tool)
  if (command !== undefined && folderIn(text) !== undefined) return true
  return text.trim() === entry.description?.trim() || isShownAbove(text, entry, tool)
}

interface SubjectProps {
  entry: PermissionEntry
  tool: ToolCallEntry | undefined
  slot: EntrySlot | undefined
}

/** The full subject of the request: the command and its folder, the diff, and the rest of the agent's report. */
function Subject({ entry, tool, slot }: SubjectProps) {
  const { store } = useApp()
  useWhole(slot, true)
  const roots = store.head.value?.roots
  const { command, cwd, environment } = subjectCommand(entry, tool)
  const place = cwd ?? roots?.cwd
  const others =
    tool?.content.filter(content => content.type !== 'terminal' && !repeats(content, entry, tool)) ?? []
  const about = tool && aboutTool(entry, tool, command)
  return (
    <div class="permission-subject">
      {about && (
        <div class="permission-tool">
          <ToolTitle title={about} roots={roots} />
        </div>
      )}
      {entry.code !== undefined && <PlainCode text={entry.code} wrap whole />}
      {command !== undefined && <PlainCode text={command} wrap whole />}
      {environment && (
        <div class="permission-environment">
          <span class="quiet">{t('Environment')}</span>
          <PlainCode text={environment.join('\n')} wrap whole />
        </div>
      )}
      {command !== undefined && place && (
        <div class="quiet permission-place truncate" title={visible(place)}>
          {t('in {0}', place === roots?.cwd ? roots.cwdLabel : visible(relativePath(place, roots)))}
        </div>
      )}
      {tool && isCut(tool) && <LoadingPart />}
      {tool &&
        slot &&
        !isCut(tool) &&
        others.map(content => (
          <ToolContent
            key={tool.content.indexOf(content)}
            slot={slot}
            content={content}
            position={tool.content.indexOf(content)}
            wrap={!entry.outcome}
          />
        ))}
      {entry.subject && <PlainCode text={pretty(entry.subject.raw)} wrap whole />}
      {command === undefined &&
        others.length === 0 &&
        tool?.rawInput !== undefined &&
        tool.rawInput !== null && <PlainCode text={planOf(tool) ?? rawCode(tool.rawInput).text} wrap whole />}
    </div>
  )
}

/** The line of an answered request that isn't about a tool call of this conversation. */
function Answered({ slot, entry }: { slot: EntrySlot; entry: PermissionEntry }) {
  const app = useApp()
  const chosen = chosenOption(entry)
  const isStopped = entry.outcome?.type === 'cancelled' && app.store.isStopped(entry)
  const open = slot.open.value
  // the request may have been answered while the page was reloaded or showed another conversation
  useEffect(() => returnReason(entry.requestId, app.composer), [entry.requestId, app.composer])
  return (
    <div class="work answered">
      <Line
        icon={isRefused(entry) ? 'circle-slash' : entry.rule ? 'shield' : 'pass'}
        iconLabel={isStopped ? t('Stopped') : undefined}
        open={open}
        onToggle={() => app.toggle(slot)}
      >
        {!isStopped && <span class="answer">{ruleAnswer(entry.rule) ?? outcomeName(entry, chosen)}</span>}
        <span class="line-aside">
          <Asked entry={entry} tool={undefined} />
        </span>
      </Line>
      {open && (
        <div class="work-body">
          <Decision entry={entry} tool={undefined} />
          <Subject entry={entry} tool={undefined} slot={undefined} />
        </div>
      )}
    </div>
  )
}

function outcomeName({ outcome, isChoice }: PermissionEntry, chosen: PermissionOption | undefined): string {
  if (outcome?.type === 'cancelled') return t('Canceled')
  if (!chosen) return t('Answered')
  return isChoice ? optionName(chosen, t) : outcomeText(chosen.kind, t)
}

/** Returns the option that Enter selects: the first that allows once; never one that always allows, or an answer to a choice. */
export function primaryOption({
  options,
  isChoice,
}: Pick<PermissionEntry, 'options' | 'isChoice'>): PermissionOption | undefined {
  return isChoice ? undefined : options.find(option => option.kind === 'allow_once')
}
