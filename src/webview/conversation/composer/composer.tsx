import { useSignalEffect } from '@preact/signals'
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Command } from '../../../acp/model.ts'
import { messageOf } from '../../../common/errors.ts'
import type { Attachment, ConversationHead } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { announce } from '../../ui/live-region.tsx'
import { useApp } from '../context.ts'
import { UsageRing } from '../usage-ring.tsx'
import { CommandList, commandRowId } from './command-list.tsx'
import { calledCommand, commandQuery, matchCommands } from './command-query.ts'
import { ConfigOptions } from './config-options.tsx'
import type { Draft } from './draft.ts'
import { PromptHistory } from './prompt-history.ts'
import { Queue } from './queue.tsx'
import { TextInput, type TextInputHandle } from './text-input.tsx'

/** Where the person writes: text, context as chips, commands, options, send and stop. */
export function Composer({ draft }: { draft: Draft }) {
  const app = useApp()
  const { store, host, list } = app
  const head = store.head.value
  const input = useRef<TextInputHandle>(null)
  const history = useRef(new PromptHistory())
  const recalling = useRef(false)
  const [caret, setCaret] = useState(0)
  const [active, setActive] = useState(0)
  const [dismissed, setDismissed] = useState('')
  const [failure, setFailure] = useState('')
  const [sending, setSending] = useState(false)
  const waitForReady = useRef<(() => void) | undefined>(undefined)
  const text = draft.text.value
  const attachments = draft.attachments.value

  useLayoutEffect(() => {
    app.composer.current = {
      focus: () => input.current?.focus(),
      attach(attachment) {
        draft.attach(attachment)
        announce(t('{0} attached', attachment.label))
        input.current?.focus()
      },
      type(typed) {
        input.current?.focus()
        input.current?.insert(typed)
      },
    }
    return () => {
      app.composer.current = undefined
    }
  }, [app, draft])

  // what was sent while the agent started goes out once it is ready
  useSignalEffect(() => {
    const phase = store.head.value?.phase
    if (phase !== 'starting' && phase !== 'loading') waitForReady.current?.()
  })

  const onInput = useCallback(
    (value: string, at: number) => {
      draft.setText(value)
      setCaret(at)
      setActive(0)
      setFailure('')
      if (!value.startsWith('/')) setDismissed('')
    },
    [draft],
  )

  const query = commandQuery(text, caret)
  const commands = head?.commands ?? []
  const matches =
    query === undefined || (dismissed !== '' && text.startsWith(dismissed))
      ? []
      : matchCommands(commands, query)
  const completing = matches.length > 0 && calledCommand(commands, text) !== matches[active]
  const running = head?.activity === 'running' || head?.activity === 'requires_action'
  const isEmpty = text.trim() === '' && attachments.length === 0
  const blocked = blockedBecause(head)

  const send = async () => {
    // as it is now: a fast hand presses Enter before what it typed is drawn
    const prompt = draft.text.peek().trim()
    if ((prompt === '' && draft.attachments.peek().length === 0) || blocked || sending) return
    history.current.stop()
    setSending(true)
    setFailure('')
    draft.hold()
    list.toEnd()
    try {
      if (isStarting(store.head.peek())) {
        await new Promise<void>(resolve => {
          waitForReady.current = resolve
        })
        waitForReady.current = undefined
      }
      await host.send(
        draft.text.peek().trim(),
        draft.attachments.peek().map(attachment => attachment.block),
      )
      draft.release(true)
    } catch (error) {
      draft.release(false)
      setFailure(messageOf(error))
      announce(t('The prompt was not sent: {0}', messageOf(error)))
    } finally {
      setSending(false)
    }
  }

  const complete = (command: Command) => {
    input.current?.setText(`/${command.name} `)
    input.current?.focus()
  }

  const onKey = (event: KeyboardEvent): boolean => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey
    if (completing && plain) {
      const count = Math.min(matches.length, 200)
      switch (event.key) {
        case 'ArrowDown':
          setActive((active + 1) % count)
          return true
        case 'ArrowUp':
          setActive((active + count - 1) % count)
          return true
        case 'Tab':
        case 'Enter':
          complete(matches[active]!)
          return true
        case 'Escape':
          setDismissed(text)
          event.stopPropagation()
          return true
      }
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      void send()
      return true
    }
    if (!plain) return false
    const { start, end } = input.current?.caret ?? { start: 0, end: 0 }
    const walking = history.current.isWalking
    if (event.key === 'ArrowUp' && ((start === 0 && end === 0) || walking)) {
      return recall(history.current.older(store.prompts(), text))
    }
    if (event.key === 'ArrowDown' && walking) return recall(history.current.newer())
    return false
  }
  const recall = (prompt: string | undefined): boolean => {
    if (prompt === undefined) return false
    recalling.current = true
    input.current?.setText(prompt)
    recalling.current = false
    return true
  }

  const called = calledCommand(commands, text)
  return (
    <div class="composer-area">
      {completing && (
        <CommandList commands={matches} active={active} onChoose={complete} onPoint={setActive} />
      )}
      {head && head.queue.length > 0 && <Queue head={head} draft={draft} />}
      <div
        class={`composer${sending ? ' sending' : ''}`}
        onPointerDown={event => {
          if (event.target === event.currentTarget) {
            event.preventDefault()
            input.current?.focus()
          }
        }}
      >
        {attachments.length > 0 && (
          <div class="chips composer-chips">
            {attachments.map(attachment => (
              <AttachmentChip
                key={attachment.id}
                attachment={attachment}
                onRemove={() => draft.detach(attachment.id)}
              />
            ))}
          </div>
        )}
        <TextInput
          handle={input}
          value={text}
          placeholder={placeholder(head)}
          label={t('Message')}
          disabled={sending && !isStarting(head)}
          activeDescendant={completing ? commandRowId(active) : undefined}
          onInput={(value, at) => {
            if (!recalling.current) history.current.stop()
            onInput(value, at)
          }}
          onCaret={setCaret}
          onKey={onKey}
        />
        {called?.hint && text.trim() === `/${called.name}` && <div class="composer-hint">{called.hint}</div>}
        <div class="composer-bar">
          <IconButton
            icon="add"
            label={t('Add the selection in the editor')}
            onClick={() => host.run('parley.addSelection')}
          />
          <ConfigOptions />
          <div class="composer-end">
            {head?.usage && <UsageRing usage={head.usage} />}
            {running && (
              <IconButton
                icon="debug-stop"
                class="stop"
                label={t('Stop (Escape)')}
                onClick={() => host.cancel()}
              />
            )}
            {(!running || !isEmpty) && (
              <IconButton
                icon={sending ? 'loading' : 'send'}
                class={`send${sending ? ' busy' : ''}`}
                label={blocked ?? (running ? t('Send when the turn has ended (Enter)') : t('Send (Enter)'))}
                disabled={isEmpty || blocked !== undefined || sending}
                onClick={() => void send()}
              />
            )}
          </div>
        </div>
      </div>
      {failure && (
        <div class="composer-failure" role="alert">
          <Icon name="error" /> <span dir="auto">{failure}</span>
        </div>
      )}
    </div>
  )
}

function isStarting(head: ConversationHead | undefined): boolean {
  return head?.phase === 'starting' || head?.phase === 'loading'
}

/** Why nothing can be sent now. */
function blockedBecause(head: ConversationHead | undefined): string | undefined {
  if (!head) return t('One moment')
  if (head.phase === 'ended') return t('The agent is no longer running')
  if (head.phase === 'empty' && head.agents.length === 0) return t('There is no agent to send this to')
  return undefined
}

function placeholder(head: ConversationHead | undefined): string {
  if (!head || head.phase === 'ended') return t('The agent is no longer running')
  const chosen = head.agents.find(agent => agent.agentId === head.defaultAgentId)
  const name = head.agent?.name ?? chosen?.name
  const ask = name ? t('Ask {0}…', name) : t('Ask…')
  return head.commands.length > 0 ? `${ask}  ${t('/ for commands')}` : ask
}

function AttachmentChip({ attachment, onRemove }: { attachment: Attachment; onRemove: () => void }) {
  return (
    <span class="chip" title={attachment.detail}>
      <Icon name={attachment.icon} />
      <span class="chip-label">{attachment.label}</span>
      <IconButton
        icon="close"
        class="chip-remove"
        label={t('Remove {0}', attachment.label)}
        onClick={onRemove}
      />
    </span>
  )
}
