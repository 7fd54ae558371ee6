import type { RefObject } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Attachment, ConversationHead, MentionRow } from '../../../bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { lazyWithStyles } from '../../ui/lazy.tsx'
import { announce } from '../../ui/live-region.tsx'
import { type App, useApp } from '../context.ts'
import { AllowanceChip, AllowanceSwitch } from './allowance.tsx'
import { fitAttachments, receiverOf } from './attach.ts'
import { AddedContext, AddMenu, Attachments, OfferedContext, useActiveContext } from './attachments.tsx'
import { calledCommand } from './completion.ts'
import { composerKeys } from './composer-keys.ts'
import { ConfigOptions } from './config-options.tsx'
import type { Draft } from './draft.ts'
import { usePlaceholder } from './placeholder.ts'
import { usePromptHistory } from './prompt-history.ts'
import { ResizeHandle } from './resize-handle.tsx'
import { SendButtons } from './send-buttons.tsx'
import { type Moves, TextInput, type TextInputHandle } from './text-input.tsx'
import { useAttach } from './use-attach.ts'
import { useCompletion } from './use-completion.tsx'
import { type ComposerNote, useComposerPort } from './use-composer-port.ts'
import { useSending } from './use-sending.ts'

const Queue = lazyWithStyles(() => import('./queue.tsx').then(module => module.Queue))
const UsageRing = lazyWithStyles(() => import('./usage-ring.tsx').then(module => module.UsageRing))

/** The composer: text with chips, attachments, commands, options, send and stop. */
export function Composer({ draft }: { draft: Draft }) {
  const app = useApp()
  const { store } = app
  const head = store.head.value
  const input = useRef<TextInputHandle>(null)
  const area = useRef<HTMLDivElement>(null)
  const allowance = useRef<HTMLButtonElement>(null)
  const writing = useRef(false)
  const [note, setNote] = useState<ComposerNote>()
  const text = draft.text.value

  const fail = (text: string) => {
    setNote({ text, icon: 'error' })
    announce(text)
  }
  const { attach, attachRow, onPaste, dropping } = useAttach({ draft, input, area, onFail: fail })

  const history = usePromptHistory(draft, input)
  const commands = head?.commands ?? NO_COMMANDS
  const completion = useCompletion({
    draft,
    input,
    commands,
    isRecalled: history.isWalking,
    onAttach: attachRow,
  })
  const active = useActiveContext(draft)
  const addOffered = (): boolean => {
    if (!active.offered) return false
    attachRow({ ...CHIP, name: active.offered.label, attaches: fresh(active.offered) })
    return true
  }
  const sending = useSending(draft, {
    onFail: fail,
    addContext: () => active.added && draft.attach(fresh(active.added)),
    onBegin() {
      history.stop()
      setNote(undefined)
    },
  })
  const send = (now = false) => completion.afterChoice(() => sending.send(now))
  useComposerPort(draft, {
    input,
    show: setNote,
    isWriting: () => writing.current && area.current?.contains(document.activeElement) === true,
    attach: attachment => void attach(fitAttachments([attachment], receiverOf(store.head.peek()))),
    sendTo: sending.sendTo,
    showAllowance: () => allowance.current?.click(),
    recall: () => void history.onArrow('ArrowUp', true),
  })

  const onInput = (moves: Moves) => {
    history.stop()
    writing.current = true
    completion.onInput(moves)
    setNote(undefined)
  }

  const openItem = (item: Attachment) => openAttachment(item, app, input)
  const onKey = composerKeys({ app, draft, input, completion, history, send, openItem, addOffered })

  const placeholder = usePlaceholder(head, area)
  const called = calledCommand(completion.commands, text)
  return (
    <div
      ref={area}
      class="composer-area"
      onFocusIn={() => {
        writing.current = false
      }}
    >
      {completion.list}
      {head?.queue.some(({ state }) => state === 'queued') && <Queue head={head} />}
      <div
        class={`composer${dropping ? ' dropping' : ''}`}
        onPointerDown={event => {
          if (event.target === event.currentTarget) {
            event.preventDefault()
            input.current?.focus()
          }
        }}
      >
        {dropping && (
          <div class="composer-drop">
            <Icon name="add" /> {t('Drop to add to the prompt')}
          </div>
        )}
        <ResizeHandle text={() => textOf(area.current)} />
        <AllowanceChip />
        {active.added && <AddedContext item={active.added} onRemove={active.remove} />}
        <Attachments items={draft.beside.value} onRemove={item => draft.detach(item.id)} onOpen={openItem} />
        <TextInput
          handle={input}
          draft={draft}
          placeholder={placeholder.shown}
          wholePlaceholder={placeholder.whole}
          label={t('Message')}
          completion={completion.aria}
          onInput={onInput}
          onCaret={completion.onCaret}
          onKey={onKey}
          onPaste={onPaste}
          onOpen={openItem}
        />
        {called?.hint && text.trim() === `/${called.name}` && <div class="composer-hint">{called.hint}</div>}
        <ComposerBar
          active={active}
          sending={sending}
          isEmpty={draft.isEmpty.value}
          allowance={allowance}
          onAttach={attachRow}
          onAdd={addOffered}
          onSend={send}
        />
      </div>
      {note && <Note note={note} />}
    </div>
  )
}

interface ComposerBarProps {
  active: ReturnType<typeof useActiveContext>
  sending: ReturnType<typeof useSending>
  isEmpty: boolean
  allowance: RefObject<HTMLButtonElement | null>
  onAttach: (row: MentionRow) => void
  onAdd: () => void
  onSend: (now: boolean) => void
}

/** The bar below the text: context, options, usage, and the buttons that send and stop. */
function ComposerBar({ active, sending, isEmpty, allowance, onAttach, onAdd, onSend }: ComposerBarProps) {
  const head = useApp().store.head.value
  const running = head?.activity === 'running' || head?.activity === 'requires_action'
  return (
    <div class="composer-bar">
      <AddMenu onAttach={onAttach} sendTo={head?.canSendTo ? sending.sendTo : undefined} />
      {active.offered && <OfferedContext item={active.offered} onAdd={onAdd} />}
      <AllowanceSwitch button={allowance} />
      <ConfigOptions />
      <div class="composer-end">
        {(head?.usage || head?.limit) && <UsageRing usage={head.usage} limit={head.limit} />}
        <SendButtons
          isRunning={running}
          steers={running && head?.canSteer === true}
          isEmpty={isEmpty}
          blocked={sending.blocked}
          onSend={onSend}
        />
      </div>
    </div>
  )
}

/** Shows the content of a chip on a double click. */
function openAttachment(
  { id, content }: Attachment,
  { host }: App,
  input: RefObject<TextInputHandle | null>,
): void {
  if (content.type === 'comment') host.send('composer/openComment', { id })
  else if (content.type === 'text' || (content.type === 'resource' && content.asText))
    input.current?.unfold(id, content.text ?? '')
  else if ('uri' in content && content.uri && !content.uri.startsWith('parley:'))
    host.send('conversation/link', { href: content.uri, of: 'user' })
}

function Note({ note: { text, icon } }: { note: ComposerNote }) {
  return (
    <div class={`composer-note ${icon}`} role="alert">
      <Icon name={icon} /> <span dir="auto">{text}</span>
    </div>
  )
}

const NO_COMMANDS: ConversationHead['commands'] = []

/** The parts of a mention row that a chip outside of a list doesn't need. */
const CHIP = { group: 'context' as const, matches: [], icon: '' }

/** Returns the attachment with a new ID, so that each chip has its own even if the same file is added twice. */
function fresh(attachment: Attachment): Attachment {
  return { ...attachment, id: crypto.randomUUID() }
}

function textOf(area: HTMLElement | null): HTMLElement | null {
  return area?.querySelector<HTMLElement>('.composer-text') ?? null
}
