import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { RunningWork as Work } from '../../../conversation/running-work.ts'
import { formatSeconds, plural, t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { now } from '../../ui/clock.ts'
import { Icon } from '../../ui/icon.tsx'
import { ScrollArea } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'
import { TerminalView } from '../entries/cancel-work.tsx'
import { BarLine, useBarOpen } from './bar.tsx'

/** After this time in milliseconds, work that didn't stop can be stopped again. */
const STOP_AGAIN_MS = 10_000

/** Work that runs besides the turn, in one line above the composer; when expanded, with the last output line of each task. */
export function RunningWork() {
  const { store } = useApp()
  const open = useBarOpen()
  const { work = [], others = 0 } = store.head.value?.running ?? {}
  const count = work.length + others
  const label = plural(count, '1 background task', '{0} background tasks')
  const newest = work.at(-1)
  return (
    <section class="running" aria-label={t('Background tasks')}>
      <BarLine
        open={open}
        icon="server-process"
        end={<Icon name="chevron-right" class={`line-chevron${open.value ? ' open' : ''}`} />}
      >
        <span class="running-count truncate">{label}</span>
        {newest && !open.value && (
          <bdi class="running-aside truncate" title={newest.title}>
            {newest.title}
          </bdi>
        )}
      </BarLine>
      {open.value && <List work={work} others={others} />}
    </section>
  )
}

/** The list of running work. The last output lines are requested once a second while the list is shown. */
function List({ work, others }: { work: Work[]; others: number }) {
  const { host } = useApp()
  const lines = useSignal<ReadonlyMap<string, string>>(new Map())
  const isAsking = useRef(false)
  const second = Math.floor(now.value / 1000)
  useEffect(() => {
    if (isAsking.current || document.hidden) return
    isAsking.current = true
    host
      .request('conversation/lastLines', { work: work.map(({ id }) => id) })
      .then(answer => {
        lines.value = new Map(work.map((one, i) => [workKey(one), answer[i] ?? '']))
      })
      // the host shows another conversation or no longer exists: keep the last lines
      .catch(() => undefined)
      .finally(() => {
        isAsking.current = false
      })
  }, [second, work, host, lines])
  return (
    <ScrollArea class="running-body" label={t('Background tasks')}>
      <ul>
        {work.map(one => (
          <Row key={workKey(one)} work={one} line={lines.value.get(workKey(one)) ?? ''} />
        ))}
      </ul>
      {others > 0 && (
        <p class="running-others">
          {plural(others, "1 more task isn't listed.", "{0} more tasks aren't listed.")}
        </p>
      )}
    </ScrollArea>
  )
}

function workKey({ id }: Work): string {
  return JSON.stringify(id)
}

function Row({ work, line }: { work: Work; line: string }) {
  const { host, store, list } = useApp()
  const open = useSignal(false)
  const stopped = useSignal<number | undefined>(undefined)
  const { id, title, since, canCancel, entry } = work
  const terminalId = 'terminalId' in id ? id.terminalId : undefined
  const name = title || workName(work)
  const isStopping = stopped.value !== undefined && now.value - stopped.value < STOP_AGAIN_MS
  const onClick = async () => {
    if (terminalId !== undefined) open.value = !open.peek()
    else if (entry) {
      const slot = await store.load(entry.index)
      if (!slot) return
      store.expandFor(slot)
      slot.open.value = true
      store.rows.changed(slot.index, slot.index + 1)
      const first = store.rows.rowsOf(slot.index)[0]
      if (first) list.reveal(first)
    }
  }
  return (
    <li>
      <div class="running-row">
        <button
          type="button"
          class="line"
          title={name}
          aria-expanded={terminalId === undefined ? undefined : open.value}
          onClick={onClick}
        >
          <Icon name={workIcon(work)} class="line-icon" label={title ? workName(work) : undefined} />
          <Title isCode={terminalId !== undefined}>{name}</Title>
          <bdi class="running-last truncate">{line}</bdi>
          {since !== undefined && (
            <span class="line-end">{formatSeconds(Math.max(0, now.value - since) / 1000)}</span>
          )}
        </button>
        {canCancel &&
          (isStopping ? (
            <span class="icon-button" role="status">
              <Icon name="loading" class="codicon-modifier-spin" label={t('Stopping {0}', name)} />
            </span>
          ) : (
            <IconButton
              icon="debug-stop"
              label={t('Stop {0}', name)}
              onClick={() => {
                stopped.value = Date.now()
                host.send('conversation/cancelWork', { work: id })
              }}
            />
          ))}
      </div>
      {terminalId !== undefined && open.value && (
        <div class="running-output">
          <TerminalView terminal={store.terminals.get(terminalId)} />
        </div>
      )}
    </li>
  )
}

function Title({ isCode, children }: { isCode: boolean; children: ComponentChildren }) {
  return <bdi class={`running-title truncate${isCode ? ' code' : ''}`}>{children}</bdi>
}

function workName({ id }: Work): string {
  if ('terminalId' in id) return t('Command')
  return 'subagentId' in id ? t('Subagent') : t('Tool call')
}

function workIcon({ id }: Work): string {
  if ('terminalId' in id) return 'terminal'
  return 'subagentId' in id ? 'organization' : 'tools'
}
