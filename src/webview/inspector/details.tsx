import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import type { FrameDetails } from '../../bridge/inspector.ts'
import { t } from '../l10n.ts'
import { IconButton } from '../ui/button.tsx'
import type { Frames } from './frames.ts'
import { JsonTree } from './json-tree.tsx'
import { DirectionIcon, durationOf, nameOf, timeOf } from './labels.tsx'
import { Timeline } from './timeline.tsx'

interface DetailsProps {
  details: FrameDetails
  frames: Frames
  element: RefObject<HTMLElement | null>
  onClose: () => void
}

/** The details of the selected frame, with its message as a tree. */
export function Details({ details, frames, element, onClose }: DetailsProps) {
  const { row, json, isCut, violations } = details
  const { n, at, agent, duration, kind, pair, pending, sessionId } = row
  const title = frames.titleOf(sessionId)
  // another message is shown from its top, wherever the previous message was scrolled to
  useLayoutEffect(() => element.current?.scrollTo(0, 0), [element, n])
  const facts = [
    agent,
    ...(title === undefined ? [] : [title]),
    timeOf(at),
    ...(duration === undefined ? [] : [durationOf(duration)]),
    ...(pending ? [t('No response yet')] : []),
  ]
  return (
    <section ref={element} class="inspector-details" aria-label={t('Message')}>
      <div class="inspector-head">
        <DirectionIcon row={row} />
        <h2>{nameOf(row)}</h2>
        <IconButton icon="close" label={t('Close')} onClick={onClose} />
      </div>
      <p class="quiet">{facts.join(' · ')}</p>
      {pair !== undefined && (
        <p>
          <button type="button" class="link-button" onClick={() => void frames.goTo(pair)}>
            {kind === 'request' ? t('Go to Response') : t('Go to Request')}
          </button>
        </p>
      )}
      {violations && (
        <div class="inspector-violations">
          <p>{t("This message doesn't match the schema of protocol version {0}:", violations.version)}</p>
          <ul>
            {violations.problems.map(problem => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </div>
      )}
      {isCut && <p>{t('This message is too long. Only a part of it was recorded.')}</p>}
      {sessionId !== undefined && <Timeline row={row} frames={frames} />}
      <JsonTree key={n} json={json} />
    </section>
  )
}
