import type { FieldProblem } from './elicitation-schema.ts'

/** Looks a sentence up in the person's language; `{0}` is replaced. The host and the webviews each have their own. */
export type Translate = (message: string, ...args: Array<string | number>) => string

/** What is wrong with a value, as a sentence that says what would be right. */
export function describeFieldProblem(problem: FieldProblem, t: Translate): string {
  switch (problem.type) {
    case 'required':
      return t('This is needed.')
    case 'kind':
      return t('This is not a value of the kind that is asked for.')
    case 'number':
      return t('Enter a number.')
    case 'integer':
      return t('Enter a whole number.')
    case 'choice':
      return t('Choose one of what is offered.')
    case 'repeated':
      return t('Choose each only once.')
    case 'pattern':
      return t('This does not have the form that is asked for.')
    case 'unfillable':
      return t('Parley does not know this kind of value: it cannot be filled in here.')
    case 'shorter':
      return t('Enter at least {0} characters.', problem.limit)
    case 'longer':
      return t('Enter at most {0} characters.', problem.limit)
    case 'less':
      return t('Enter {0} or more.', problem.limit)
    case 'greater':
      return t('Enter {0} or less.', problem.limit)
    case 'fewer':
      return t('Choose at least {0}.', problem.limit)
    case 'more':
      return t('Choose at most {0}.', problem.limit)
    case 'format':
      return describeFormat(problem.format, t)
  }
}

function describeFormat(format: Extract<FieldProblem, { type: 'format' }>['format'], t: Translate): string {
  switch (format) {
    case 'email':
      return t('Enter an email address.')
    case 'uri':
      return t('Enter a whole address, such as https://example.com.')
    case 'date':
      return t('Enter a date, such as 2026-01-31.')
    case 'date-time':
      return t('Enter a date and a time.')
  }
}
