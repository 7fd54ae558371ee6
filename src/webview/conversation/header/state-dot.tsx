import type { ConversationHead } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'

type DotState = 'none' | 'starting' | 'idle' | 'running' | 'waiting' | 'ended'

export function dotState(head: ConversationHead, waiting: number): DotState {
  switch (head.phase) {
    case 'empty':
      return 'none'
    case 'starting':
    case 'loading':
      return 'starting'
    case 'ended':
      return 'ended'
    case 'ready':
      if (waiting > 0 || head.activity === 'requires_action') return 'waiting'
      return head.activity === 'running' ? 'running' : 'idle'
  }
}

export function dotLabel(state: DotState): string {
  switch (state) {
    case 'none':
      return ''
    case 'starting':
      return t('Starting')
    case 'idle':
      return t('Ready')
    case 'running':
      return t('Running')
    case 'waiting':
      return t('Needs your answer')
    case 'ended':
      return t('Ended')
  }
}

/** What a session is doing, by shape and color: ring, full, half, crossed. */
export function StateDot({ state }: { state: DotState }) {
  if (state === 'none') return null
  const label = dotLabel(state)
  return <span class={`dot dot-${state}`} role="img" aria-label={label} title={label} />
}
