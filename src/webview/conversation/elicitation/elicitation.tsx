import { useEffect, useRef } from 'preact/hooks'
import type { ElicitationField } from '../../../acp/model.ts'
import { visibleProse } from '../../../common/visible.ts'
import { describeUrl } from '../../../conversation/requests/described-url.ts'
import type { ElicitationEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { urlWarningText } from '../../tools/links.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import { Line } from '../entries/line.tsx'
import { questionsDrawn } from '../navigation/question-focus.ts'
import type { EntrySlot } from '../slot.ts'
import { dropUnsentAnswer } from '../unsent-answers.ts'
import { FormField } from './field.tsx'
import { formOf } from './form-state.ts'

/** An elicitation: a box while it's pending, a line after it's answered. */
export function Elicitation({ slot }: { slot: EntrySlot }) {
  const entry = slot.entry.value as ElicitationEntry
  return entry.outcome ? <Answered slot={slot} entry={entry} /> : <Question slot={slot} entry={entry} />
}

interface PartProps {
  slot: EntrySlot
  entry: ElicitationEntry
}

function Question({ slot, entry }: PartProps) {
  const { store, host } = useApp()
  const { ask } = entry
  const first = store.waiting.value[0] === slot.id
  useEffect(() => {
    questionsDrawn.value++
  }, [])
  const heading = visibleProse((ask.mode === 'form' && ask.title?.trim()) || entry.message)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset draws a box of its own
    <div
      class={`permission elicitation${first ? ' first' : ''}`}
      role="group"
      aria-label={t('Answer required: {0}', visibleProse(entry.message))}
      data-request={entry.requestId}
      tabIndex={-1}
      onKeyDown={event => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.preventDefault()
        host.send('conversation/elicitation', { requestId: entry.requestId, answer: { action: 'cancel' } })
      }}
    >
      <div class="card-head">
        <Icon name={ask.mode === 'url' ? 'link-external' : 'question'} class="card-icon" />
        <div class="card-title" dir="auto">
          {heading}
        </div>
      </div>
      {heading !== visibleProse(entry.message) && <Paragraph text={entry.message} />}
      {ask.mode === 'form' ? (
        <>
          {ask.description && <Paragraph text={ask.description} />}
          <Form slot={slot} entry={entry} fields={ask.fields} />
        </>
      ) : (
        <Visit entry={entry} url={ask.url} />
      )}
    </div>
  )
}

function Paragraph({ text }: { text: string }) {
  return (
    <div class="card-text" dir="auto">
      {visibleProse(text)}
    </div>
  )
}

function Form({ slot, entry, fields }: PartProps & { fields: readonly ElicitationField[] }) {
  const { host } = useApp()
  const form = formOf(slot, entry.requestId, fields)
  const element = useRef<HTMLFormElement>(null)
  const stuck = fields.some(field => field.type === 'unknown' && field.required)
  const submit = (event: Event) => {
    event.preventDefault()
    const checked = form.submit()
    if (checked.ok)
      host.send('conversation/elicitation', {
        requestId: entry.requestId,
        answer: { action: 'accept', content: checked.content },
      })
    // focus the first invalid field, after the problems are rendered
    else {
      requestAnimationFrame(() =>
        element.current?.querySelector<HTMLElement>('[data-invalid] :is(input, select)')?.focus(),
      )
    }
  }
  return (
    <form ref={element} class="elicitation-form" noValidate onSubmit={submit}>
      {form.fields.map(field => (
        <FormField key={field.field.key} state={field} />
      ))}
      {stuck && (
        <div class="field-problem">
          <Icon name="error" />
          <span>{t("This form can't be submitted. Parley doesn't support one of its required fields.")}</span>
        </div>
      )}
      <div class="permission-options">
        <button type="submit" class="button primary" disabled={stuck}>
          <span class="button-label">{t('Submit')}</span>
        </button>
        <Refusals entry={entry} />
      </div>
    </form>
  )
}

function Visit({ entry, url }: { entry: ElicitationEntry; url: string }) {
  const { host } = useApp()
  const reported = describeUrl(url)
  return (
    <>
      <Address url={url} />
      <div class="permission-options">
        {reported?.canOpen && (
          <Button
            primary={reported.warnings.length === 0}
            onClick={() =>
              host.send('conversation/elicitation', {
                requestId: entry.requestId,
                answer: { action: 'accept' },
              })
            }
          >
            {t('Open {0}', reported.host)}
          </Button>
        )}
        <Refusals entry={entry} />
      </div>
    </>
  )
}

function Refusals({ entry }: { entry: ElicitationEntry }) {
  const { host } = useApp()
  return (
    <>
      <Button
        onClick={() =>
          host.send('conversation/elicitation', { requestId: entry.requestId, answer: { action: 'decline' } })
        }
      >
        {t('Decline')}
      </Button>
      <Button
        onClick={() =>
          host.send('conversation/elicitation', { requestId: entry.requestId, answer: { action: 'cancel' } })
        }
      >
        {t('Cancel')}
      </Button>
    </>
  )
}

function Answered({ slot, entry }: PartProps) {
  const app = useApp()
  const { ask, outcome } = entry
  const open = slot.open.value
  const accepted = outcome?.action === 'accept'
  const waiting = entry.visit === 'waiting'
  // the end of the turn already says that the request was canceled
  const isStopped = outcome?.action === 'cancel' && app.store.isStopped(entry)
  useEffect(() => dropUnsentAnswer(entry.requestId), [entry.requestId])
  return (
    <div class="work answered">
      <Line
        icon={waiting ? 'loading' : accepted ? 'pass' : 'circle-slash'}
        iconClass={waiting ? 'codicon-modifier-spin' : undefined}
        iconLabel={isStopped ? t('Stopped') : undefined}
        open={open}
        onToggle={() => app.toggle(slot)}
      >
        {!isStopped && <span class="answer">{answerText(entry)}</span>}
        <span class="line-aside">
          <span class="line-text" dir="auto">
            {visibleProse(firstLine(entry.message))}
          </span>
        </span>
      </Line>
      {open && (
        <div class="work-body">
          <div dir="auto">{visibleProse(entry.message)}</div>
          {ask.mode === 'url' ? (
            <>
              <Address url={ask.url} />
              {waiting && (
                <div class="permission-options">
                  <Button onClick={() => app.host.send('conversation/link', { href: ask.url })}>
                    {t('Open Again')}
                  </Button>
                </div>
              )}
            </>
          ) : (
            accepted && <Content fields={ask.fields} content={outcome.content ?? {}} />
          )}
        </div>
      )}
    </div>
  )
}

function answerText(entry: ElicitationEntry): string {
  switch (entry.outcome?.action) {
    case 'decline':
      return t('Declined')
    case 'cancel':
      return t('Canceled')
    default: {
      if (entry.ask.mode === 'form') return t('Answered')
      const host = describeUrl(entry.ask.url)?.host ?? ''
      if (entry.visit === 'waiting') return t('Waiting for {0}', host)
      return entry.visit === 'done' ? t('Done at {0}', host) : t('Opened {0}', host)
    }
  }
}

interface ContentProps {
  fields: readonly ElicitationField[]
  content: Readonly<Record<string, unknown>>
}

/** The submitted values, in the order of the form. */
function Content({ fields, content }: ContentProps) {
  const given = fields.filter(field => Object.hasOwn(content, field.key))
  return (
    <dl class="elicitation-content">
      {given.map(field => (
        <div key={field.key} class="elicitation-given">
          <dt class="quiet" dir="auto">
            {visibleProse(field.title)}
          </dt>
          <dd dir="auto">{valueText(field, content[field.key])}</dd>
        </div>
      ))}
    </dl>
  )
}

function valueText(field: ElicitationField, value: unknown): string {
  if (typeof value === 'boolean') return value ? t('Yes') : t('No')
  const titles = field.type === 'select' || field.type === 'multi_select' ? field.choices : []
  const titleOf = (one: unknown) =>
    visibleProse(titles.find(choice => choice.value === one)?.title ?? String(one))
  return Array.isArray(value) ? value.map(titleOf).join(', ') : titleOf(value)
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}

/** A whole URL with its host highlighted, and warnings about it. */
function Address({ url }: { url: string }) {
  const { host } = useApp()
  const reported = describeUrl(url)
  return (
    <div class="address">
      <div class="address-box">
        <div class="address-text" dir="ltr">
          {reported ? (
            <>
              {reported.before}
              <strong class="address-host">{reported.host}</strong>
              {reported.after}
            </>
          ) : (
            url
          )}
        </div>
        <IconButton
          icon="copy"
          label={t('Copy URL')}
          onClick={() => host.send('conversation/copy', { text: url })}
        />
      </div>
      {reported?.warnings.map(warning => (
        <Warning key={warning} text={urlWarningText(warning)} />
      ))}
      {!reported?.canOpen && <Warning text={t('Only http and https links can be opened.')} />}
    </div>
  )
}

function Warning({ text }: { text: string }) {
  return (
    <div class="address-warning" role="note">
      <Icon name="warning" />
      <span>{text}</span>
    </div>
  )
}
