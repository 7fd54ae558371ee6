import { useEffect, useRef, useState } from 'preact/hooks'
import type { ConversationHead, EditOptions } from '../../../bridge/conversation.ts'
import { messageOf } from '../../../common/errors.ts'
import { t } from '../../l10n.ts'
import { useApp } from '../context.ts'
import { type Edit, finishEdit } from './prompt-edits.ts'

interface Resend {
  /** why the prompt can't be sent now */
  blocked: string | undefined
  /** whether a running turn can be stopped to send the prompt */
  canStop: boolean
  isSending: boolean
  /** whether the prompt will be sent as soon as the running turn has stopped */
  isStopping: boolean
  /** the choices for the files and turns after the prompt, if it has any */
  options: EditOptions | undefined
  setOptions(options: EditOptions): void
  /** Sends the prompt. `stops`: stops the running turn first. */
  send(stops: boolean): void
}

/** Sends an edited prompt, with the user's choices about the turns and files after the prompt. */
export function useResend(
  { at, draft }: Edit,
  afterChoice: (what: () => void) => void,
  onFail: (text: string) => void,
): Resend {
  const app = useApp()
  const { store, host } = app
  const { entryId } = at
  const [isSending, setSending] = useState(false)
  const [isStopping, setStopping] = useState(false)
  const sending = useRef(false)
  const [options, setOptions] = useState<EditOptions>()
  const { activity, phase, queue } = store.head.value ?? {}
  const isIdle = activity === 'idle'
  const canStop = !isIdle && queue?.length === 0
  useEffect(() => {
    // wait for the end of the turn, since its changes are known only then
    if (!isIdle) return
    host.request('conversation/editOptions', { entryId }).then(
      // keep choices that the user made meanwhile
      options =>
        setOptions(before => {
          if (!options) return undefined
          const { restores, forgets } = before ?? options
          return { ...options, restores, forgets }
        }),
      () => {},
    )
  }, [host, entryId, isIdle, phase])

  const resend = async (hasStopped: boolean): Promise<void> => {
    // read the current state, since a user may press Enter before a change is rendered
    if (draft.isEmpty.peek() || sending.current || blockedBecause(store.head.peek())) return
    sending.current = true
    setSending(true)
    try {
      // the edit needs the user's last choices
      const chosen = options ?? (await host.request('conversation/editOptions', { entryId }))
      const { restores = false, forgets = true } = chosen ?? {}
      // if the agent exited instead of stopping, the later turns aren't set aside
      const isSetAside = !hasStopped && chosen?.isSetAside === true
      const edited = { id: crypto.randomUUID(), draft: draft.content.peek(), restores, forgets, isSetAside }
      if (await host.request('conversation/resendEdited', { edit: at, edited })) {
        finishEdit(app, at)
        app.composer.current?.focus()
        app.list.toEnd()
      }
    } catch (error) {
      onFail(messageOf(error))
    } finally {
      sending.current = false
      setSending(false)
    }
  }
  const send = (hasStopped: boolean) => afterChoice(() => void resend(hasStopped))
  useEffect(() => {
    if (!isStopping || !isIdle) return
    setStopping(false)
    send(true)
  })
  return {
    blocked: blockedBecause(store.head.value),
    canStop,
    isSending,
    isStopping,
    options,
    setOptions,
    send(stops) {
      if (!stops || !canStop) send(false)
      else if (!draft.isEmpty.peek() && !isStopping) {
        setStopping(true)
        host.send('conversation/cancel')
      }
    },
  }
}

/** Why an edited prompt can't be sent now. */
function blockedBecause(head: ConversationHead | undefined): string | undefined {
  if (!head || head.phase === 'loading' || head.phase === 'starting') return t('Preparing…')
  if (head.activity !== 'idle') return t('Stop the turn to send the edited prompt.')
  // the edited prompt would overtake queued prompts, or these would refer to the turns that it replaces
  if (head.queue.length > 0) return t('Send or remove the queued prompts first.')
  return undefined
}
