import type { Plan, PlanEntry } from '../../../acp/model.ts'
import { t } from '../../l10n.ts'
import { MarkdownText } from '../../markdown/view.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ScrollArea } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'
import { BarLine, useBarOpen } from './bar.tsx'

/** The agent's plans, each in one line above the composer until expanded. A plan disappears after the turn that completes its last step. */
export function Plans() {
  const { store } = useApp()
  const { plans: all = [], activity } = store.head.value ?? {}
  const plans = all.filter(plan =>
    plan.entries.length > 0 ? activity !== 'idle' || currentStep(plan) !== undefined : plan.markdown,
  )
  return (
    <>
      {plans.map((plan, at) => (
        <PlanView
          key={plan.planId}
          plan={plan}
          label={plans.length > 1 ? t('Plan {0} of {1}', at + 1, plans.length) : t('Plan')}
        />
      ))}
    </>
  )
}

/** Returns the current step of a plan; `undefined` if all steps are done. */
function currentStep({ entries }: Plan): PlanEntry | undefined {
  return (
    entries.find(entry => entry.status === 'in_progress') ??
    entries.find(({ status }) => status !== 'completed' && status !== 'cancelled')
  )
}

function PlanView({ plan, label }: { plan: Plan; label: string }) {
  const open = useBarOpen()
  const current = currentStep(plan)
  const all = plan.entries.length
  const position = current ? plan.entries.indexOf(current) + 1 : all
  const step = current?.content ?? t('All done')
  return (
    <section class="plan" aria-label={label}>
      <BarLine
        open={open}
        icon="checklist"
        end={<Icon name="chevron-right" class={`line-chevron${open.value ? ' open' : ''}`} />}
      >
        {all > 0 ? (
          <>
            <span class="plan-count">{t('{0} of {1}', position, all)}</span>
            <span class="plan-current" dir="auto" title={step}>
              {step}
            </span>
          </>
        ) : (
          label
        )}
      </BarLine>
      {open.value && (
        <ScrollArea class="plan-body" label={label}>
          {plan.markdown && <MarkdownText text={plan.markdown} />}
          {all > 0 && (
            <ol class="plan-entries">
              {plan.entries.map((entry, i) => (
                <Step key={i} entry={entry} />
              ))}
            </ol>
          )}
        </ScrollArea>
      )}
    </section>
  )
}

const icons: ReadonlyMap<PlanEntry['status'], string> = new Map<PlanEntry['status'], string>([
  ['pending', 'circle-large-outline'],
  ['in_progress', 'play-circle'],
  ['completed', 'pass'],
  ['cancelled', 'circle-slash'],
])

function statusName(status: PlanEntry['status']): string {
  switch (status) {
    case 'pending':
      return t('To do')
    case 'in_progress':
      return t('In progress')
    case 'completed':
      return t('Done')
    case 'cancelled':
      return t('Canceled')
    default:
      return status
  }
}

function Step({ entry }: { entry: PlanEntry }) {
  return (
    <li class={`plan-entry plan-${entry.status}`}>
      <Icon name={icons.get(entry.status) ?? 'circle-large-outline'} label={statusName(entry.status)} />
      <span dir="auto">{entry.content}</span>
    </li>
  )
}
