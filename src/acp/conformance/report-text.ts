import * as l10n from '@vscode/l10n'
import { codeFence } from '../../common/code-fence.ts'
import { visible } from '../../common/visible.ts'
import type {
  CheckGroup,
  CheckResult,
  CheckStatus,
  ConformanceReport,
  VersionReport,
} from './conformance-report.ts'

const GROUPS: Record<CheckGroup, () => string> = {
  initialization: () => l10n.t('Initialization'),
  sessions: () => l10n.t('Sessions'),
  prompts: () => l10n.t('Prompts'),
  cancellation: () => l10n.t('Cancellation'),
  errors: () => l10n.t('Errors'),
  messages: () => l10n.t('Messages'),
  process: () => l10n.t('Process'),
}

const MARKS: Record<CheckStatus, string> = { passed: '✔', failed: '✖', notOffered: '–', notChecked: '?' }

function statusText(status: CheckStatus): string {
  switch (status) {
    case 'passed':
      return l10n.t('passed')
    case 'failed':
      return l10n.t('failed')
    case 'notOffered':
      return l10n.t('not offered')
    case 'notChecked':
      return l10n.t('not checked')
  }
}

function summary({ results }: VersionReport): string {
  const count = (status: CheckStatus) => results.filter(result => result.status === status).length
  return l10n.t(
    '{0} passed, {1} failed, {2} not offered, {3} not checked',
    count('passed'),
    count('failed'),
    count('notOffered'),
    count('notChecked'),
  )
}

/** Returns the results of each group, in the order of the groups. */
function grouped(results: readonly CheckResult[]): [string, CheckResult[]][] {
  return Object.entries(GROUPS).flatMap(([group, name]) => {
    const own = results.filter(result => result.group === group)
    return own.length > 0 ? [[name(), own] as [string, CheckResult[]]] : []
  })
}

function heading({ version, isSpoken, results }: VersionReport): string {
  return isSpoken || results.length > 0
    ? l10n.t('Version {0}', version)
    : l10n.t("Version {0}: the agent doesn't use it", version)
}

/** Returns the report as text for a terminal. */
export function plainReport(report: ConformanceReport): string {
  const lines = [`${visible(report.agent)} (${visible(report.command)})`.trim()]
  if (report.problem !== undefined) lines.push('', report.problem)
  for (const one of report.versions) {
    lines.push('', heading(one))
    for (const [group, results] of grouped(one.results)) {
      lines.push('', `  ${group}`)
      for (const { id, status, title, detail, rule, section, traffic } of results) {
        const why =
          status === 'notChecked'
            ? `: ${statusText(status)}. ${detail}`
            : status === 'notOffered'
              ? `: ${statusText(status)}`
              : ''
        lines.push(`  ${MARKS[status]} ${title} [${id}]${visible(why)}`)
        if (status !== 'failed') continue
        for (const line of (detail ?? '').split('\n')) lines.push(`      ${visible(line)}`)
        for (const line of traffic ?? []) lines.push(`        ${visible(line)}`)
        lines.push(`      ${l10n.t('Specification: {0} {1}', rule, section)}`)
      }
    }
    if (one.results.length > 0) lines.push('', `  ${summary(one)}`)
  }
  return `${lines.join('\n')}\n`
}

/** Returns the report as a Markdown document. */
export function markdownReport(report: ConformanceReport): string {
  const parts = [
    `# ${l10n.t('Check of {0}', inline(report.agent || report.command))}`,
    ...(report.command === '' ? [] : [fenced(report.command)]),
    ...(report.withPrompts ? [] : [l10n.t('Checked without prompts.')]),
    ...(report.problem === undefined ? [] : [report.problem]),
  ]
  for (const one of report.versions) {
    parts.push(`## ${heading(one)}`)
    if (one.results.length === 0) continue
    parts.push(summary(one))
    parts.push(
      [
        `| ${l10n.t('Check')} | ${l10n.t('Result')} |`,
        '| --- | --- |',
        ...grouped(one.results).flatMap(([group, results]) => [
          `| **${group}** | |`,
          ...results.map(
            ({ status, title, detail }) =>
              `| ${inline(title)} | ${MARKS[status]} ${statusText(status)}${status === 'notChecked' && detail ? `: ${inline(detail)}` : ''} |`,
          ),
        ]),
      ].join('\n'),
    )
    for (const { status, title, detail, rule, section, traffic = [] } of one.results) {
      if (status !== 'failed') continue
      parts.push(`### ${inline(title)}`)
      if (detail) parts.push(fenced(detail))
      parts.push(l10n.t('Specification: {0} {1}', rule, `<${section}>`))
      if (traffic.length > 0) parts.push(l10n.t('Sent (→) and received (←):'), fenced(traffic.join('\n')))
    }
  }
  return `${parts.join('\n\n')}\n`
}

/** Returns an agent's text for a line of Markdown, escaped. */
function inline(text: string): string {
  return visible(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]<>#|!&]/g, '\\$&')
}

/** Returns an agent's text as a code block of Markdown, whatever the text contains. */
function fenced(text: string): string {
  const fence = codeFence(text)
  return `${fence}text\n${text.split('\n').map(visible).join('\n')}\n${fence}`
}
