import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { useApp } from '../context.ts'

/** Switches whether the editor shows where the agent works. */
export function FollowButton() {
  const { host, work } = useApp()
  const on = work.following.value
  return (
    <IconButton
      icon={on ? 'eye' : 'eye-closed'}
      label={on ? t('Stop Following Agent in Editor') : t('Follow Agent in Editor')}
      class="follow-button"
      pressed={on}
      onClick={() => host.send('follow/set', { on: !on })}
    />
  )
}
