import type { FrameRow } from '../../bridge/inspector.ts'
import { dateFormat, formatDuration, t } from '../l10n.ts'
import { Icon } from '../ui/icon.tsx'

/** An arrow for the direction of a frame, in the color of its kind. */
export function DirectionIcon({ row: { direction, kind } }: { row: FrameRow }) {
  return (
    <Icon
      name={direction === 'send' ? 'arrow-right' : 'arrow-left'}
      class={`inspector-${kind}`}
      label={direction === 'send' ? t('Sent') : t('Received')}
    />
  )
}

/** Returns the method of a request or notification, or a text such as `session/prompt response` for a response. */
export function nameOf({ kind, method }: FrameRow): string {
  if (kind !== 'response') return method ?? ''
  return method === undefined ? t('response') : t('{0} response', method)
}

export function timeOf(at: number): string {
  return dateFormat({
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hourCycle: 'h23',
  }).format(at)
}

export function durationOf(milliseconds: number): string {
  return milliseconds < 1000 ? t('{0} ms', milliseconds) : formatDuration(milliseconds)
}
