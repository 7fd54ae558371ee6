import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Attachment, ConversationHead } from '../../../bridge/conversation.ts'
import { draftOf, joinDrafts } from '../../../common/draft.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { lazyWithStyles } from '../../ui/lazy.tsx'
import { announce } from '../../ui/live-region.tsx'
import { useApp } from '../context.ts'
import { AllowanceChip, AllowanceSwitch } from './allowance.tsx'
import { fitAttachments, receiverOf } from './attach.ts'
import { AddedContext, AddMenu, Attachments, OfferedContext, useActiveContext } from './attachments.tsx'
import { calledCommand } from './completion.ts'
import { ConfigOptions } from './config-options.tsx'
import { type Draft, itemFromBlock, type WrittenDraft } from './draft.ts'
import { suggestionOf, usePlaceholder } from './placeholder.ts'
import { editLast, usePromptHistory } from './prompt-history.ts'
import { ResizeHandle } from './resize-handle.tsx'
import { queueTitle, sendNowTitle, sendsOn, sendTitle } from './send-key.ts'
import { type Moves, TextInput, type TextInputHandle } from './text-input.tsx'
import { useAttach } from './use-attach.ts'
import { useCompletion } from './use-completion.tsx'

const Queue = lazyWithStyles(() => import('./queue.tsx').then(module => module.Queue))
const UsageRing = lazyWithStyles(() => import('./usage-ring.tsx').then(module => module.UsageRing))

/** The composer: text with chips, attachments, commands, options, send and stop. */
export function Composer({ draft }: { draft: Draft }) {
  const app = useApp()
  const { store, host } = app
  const head = store.head.value
  const input = useRef<TextInputHandle>(null)
  const area = useRef<HTMLDivElement>(null)
  const allowance = useRef<HTMLButtonElement>(null)
  const recalling = useRef(false)
  const writing = useRef(false)
  const [note, setNote] = useState<{ text: string; icon: 'error' | 'info' }>()
  const text = draft.text.value
  const isEmpty = draft.isEmpty.value

  const fail = (text: string) => {
    setNote({ text, icon: 'error' })
    announce(text)
  }
  const { attach, attachRow, onPaste, dropping } = useAttach({ draft, input, area, onFail: fail })
  const attachNow = useRef(attach)
  const sendToNow = useRef(() => {})
  const recallNow = useRef(() => {})
  attachNow.current = attach

  useLayoutEffect(() => {
    draft.onRefused = sentence => {
      setNote({ text: sentence, icon: 'error' })
      announce(t("The prompt wasn't sent: {0}", sentence))
    }
    app.composer.current = {
      focus: () => input.current?.focus(),
      get isEmpty() {
        return draft.isEmpty.peek()
      },
      get isWriting() {
        return writing.current && area.current?.contains(document.activeElement) === true
      },
      attach(attachment) {
        void attachNow.current(fitAttachments([attachment], receiverOf(store.head.peek())))
      },
      type(typed) {
        input.current?.focus()
        input.current?.insert(typed)
      },
      write(blocks, quiet, instead) {
        const put = (now: WrittenDraft) => {
          const written = joinDrafts(now, draftOf(blocks, itemFromBlock))
          draft.put(written)
          input.current?.setText(written)
          if (!quiet) input.current?.focus()
        }
        if (!instead) return put(draft.content.peek())
        void import('./take-back.ts').then(({ withoutPrompt }) =>
          put(withoutPrompt(draft.content.peek(), draftOf(instead, itemFromBlock))),
        )
      },
      sendTo: () => sendToNow.current(),
      showAllowance: () => allowance.current?.click(),
      recall() {
        input.current?.focus()
        recallNow.current()
      },
      say(text) {
        setNote({ text, icon: 'info' })
        announce(text)
      },
    }
    // The page may have got the focus before the composer existed.
    if (document.hasFocus() && document.activeElement === document.body) input.current?.focus()
    return () => {
      app.composer.current = undefined
    }
  }, [app, draft])

  const history = usePromptHistory(draft, prompt => {
    recalling.current = true
    draft.put(prompt)
    input.current?.setText(prompt)
    recalling.current = false
  })
  recallNow.current = () => void history.onArrow('ArrowUp', true)
  const commands = head?.commands ?? NO_COMMANDS
  const completion = useCompletion({
    draft,
    input,
    commands,
    isRecalled: history.isWalking,
    onAttach: attachRow,
  })
  const running = head?.activity === 'running' || head?.activity === 'requires_action'
  const steers = running && head?.canSteer === true
  const active = useActiveContext(draft)
  const addOffered = () => {
    if (active.offered) attachRow({ ...CHIP, name: active.offered.label, attaches: fresh(active.offered) })
  }
  const {
    blocked,
    send: sendNow,
    whenExpanded,
  } = useSending(draft, fail, () => {
    if (active.added) draft.attach(fresh(active.added))
    history.stop()
    setNote(undefined)
  })

  const send = (now = false) => completion.afterChoice(() => sendNow(now))
  const sendTo = () =>
    whenExpanded(() => {
      if (active.added) draft.attach(fresh(active.added))
      draft.flush()
      host.send('composer/sendTo')
    })
  sendToNow.current = sendTo

  /** A typed command waits for its arguments, like a command chosen from the list. */
  const awaitArguments = (): boolean => {
    const written = draft.text.peek()
    const command = calledCommand(completion.commands, written)
    if (!command?.hint || written !== `/${command.name}`) return false
    input.current?.insert(' ')
    return true
  }
  const onKey = (event: KeyboardEvent): boolean => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey
    if (completion.onKey(event)) return true
    const suggestion = suggestionOf(store.head.peek())
    if (event.key === 'Tab' && plain && suggestion !== undefined && draft.isEmpty.peek()) {
      input.current?.insert(suggestion)
      return true
    }
    if (event.key === 'Enter' && event.altKey) {
      const item = draft.item(input.current?.chipAtCaret ?? '')
      if (item) openItem(item)
      else addOffered()
      return item !== undefined || active.offered !== undefined
    }
    if (event.key === 'Enter') {
      const how = sendsOn(event)
      if (how && !awaitArguments()) send(how === 'now')
      return how !== undefined
    }
    if (!plain || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return false
    const { start, end } = input.current?.caret ?? { start: 0, end: 0 }
    const atStart = start === 0 && end === 0
    if (event.key === 'ArrowUp' && draft.isEmpty.peek() && !history.isWalking() && editLast(app)) return true
    // a user who moved into the text with the cursor stays there
    if (!atStart && (start !== end || end !== draft.text.peek().length) && history.isWalking()) return false
    return history.onArrow(event.key, atStart)
  }
  const onInput = (moves: Moves) => {
    if (!recalling.current) history.stop()
    writing.current = true
    completion.onInput(moves)
    setNote(undefined)
  }

  const openItem = (item: Attachment) => {
    const { content } = item
    if (content.type === 'comment') host.send('composer/openComment', { id: item.id })
    else if (content.type === 'text' || (content.type === 'resource' && content.asText))
      input.current?.unfold(item.id, content.text ?? '')
    else if ('uri' in content && content.uri && !content.uri.startsWith('parley:'))
      host.send('conversation/link', { href: content.uri })
  }

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
        <div class="composer-bar">
          <AddMenu onAttach={attachRow} sendTo={head?.canSendTo ? sendTo : undefined} />
          {active.offered && <OfferedContext item={active.offered} onAdd={addOffered} />}
          <AllowanceSwitch button={allowance} />
          <ConfigOptions />
          <div class="composer-end">
            {(head?.usage || head?.limit) && <UsageRing usage={head.usage} limit={head.limit} />}
            {running && (
              <IconButton
                icon="debug-stop"
                class="stop"
                label={t('Stop (Escape)')}
                onClick={() => host.send('conversation/cancel')}
              />
            )}
            {(!running || !isEmpty) && (
              <IconButton
                icon={steers ? 'clockface' : 'send'}
                class={steers ? '' : 'send'}
                label={blocked ?? (running ? queueTitle() : sendTitle())}
                disabled={isEmpty || blocked !== undefined}
                onClick={() => send()}
              />
            )}
            {steers && !isEmpty && (
              <IconButton icon="send" class="send" label={sendNowTitle()} onClick={() => send(true)} />
            )}
          </div>
        </div>
      </div>
      {note && (
        <div class={`composer-note ${note.icon}`} role="alert">
          <Icon name={note.icon} /> <span dir="auto">{note.text}</span>
        </div>
      )}
    </div>
  )
}

const NO_COMMANDS: ConversationHead['commands'] = []

/** A row that isn't a list item. */
const CHIP = { group: 'context' as const, matches: [], icon: '' }

/** Each chip has its own id, even if the same file is added twice. */
function fresh(attachment: Attachment): Attachment {
  return { ...attachment, id: crypto.randomUUID() }
}

function textOf(area: HTMLElement | null): HTMLElement | null {
  return area?.querySelector<HTMLElement>('.composer-text') ?? null
}

interface Sending {
  /** Why nothing can be sent now. */
  blocked: string | undefined
  /**
   * Sends the composer's content and clears it. The host waits for the agent if necessary. `now`: into the running turn, if
   * the agent can add it.
   */
  send(now?: boolean): void
  /** Runs an action as soon as the text of the prompt file that the draft calls, if any, is in the draft. */
  whenExpanded(what: () => void): void
}

function useSending(draft: Draft, onFail: (sentence: string) => void, onBegin: () => void): Sending {
  const app = useApp()
  const { store, list } = app
  const blocked = blockedBecause(store.head.value)
  const expanding = useRef(false)
  const whenExpanded = (what: () => void) => {
    const { text, chips } = draft.content.peek()
    const isCall = /^\/\S/.test(text) && chips[0]?.from !== 0
    if (!isCall || calledCommand(store.head.peek()?.commands ?? NO_COMMANDS, text)) return what()
    if (expanding.current) return
    expanding.current = true
    void import('./expand-prompt.ts')
      .then(({ expandPrompt }) => expandPrompt(draft, app, onFail))
      .then(
        isReady => isReady && what(),
        () => onFail(t("This part couldn't be loaded.")),
      )
      .finally(() => {
        expanding.current = false
      })
  }
  const send = (now = false) => {
    // read the current state, since a user may press Enter before the last key or change is rendered
    if (draft.isEmpty.peek() || blockedBecause(store.head.peek())) return
    whenExpanded(() => {
      onBegin()
      draft.send(now && store.head.peek()?.canSteer === true)
      list.toEnd()
    })
  }
  return { blocked, send, whenExpanded }
}

function blockedBecause(head: ConversationHead | undefined): string | undefined {
  if (!head) return t('Preparing…')
  if (head.phase === 'empty' && (head.noAgent || head.agents.length === 0)) return t('No agent selected')
  return undefined
}
