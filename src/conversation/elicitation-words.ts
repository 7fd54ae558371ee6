import type { FieldProblem } from './elicitation-schema.ts'

/** Looks a sentence up in the person's language; `{0}` is replaced. The host and the webviews each have their own. */
export type Translate = (message: string, ...args: Array<string | number>) => string

/** What is wrong with a value, as a sentence that says what would be right. */
export function describeFieldProblem(problem: FieldProblem, t: Translate): string {
  switch (problem.type) {
    case 'required':
      return t('A value is required.')
    case 'kind':
      return t('The value has the wrong type.')
    case 'number':
      return t('Enter a number.')
    case 'integer':
      return t('Enter a whole number.')
    case 'choice':
      return t('Select one of the available values.')
    case 'repeated':
      return t('Select each value only once.')
    case 'pattern':
      return t("The value doesn't match the required format.")
    case 'unfillable':
      return t("Parley doesn't support this type of value.")
    case 'shorter':
      return problem.limit === 1
        ? t('Enter at least 1 character.')
        : t('Enter at least {0} characters.', problem.limit)
    case 'longer':
      return problem.limit === 1
        ? t('Enter at most 1 character.')
        : t('Enter at most {0} characters.', problem.limit)
    case 'less':
      return t('Enter {0} or more.', problem.limit)
    case 'greater':
      return t('Enter {0} or less.', problem.limit)
    case 'fewer':
      return t('Select at least {0}.', problem.limit)
    case 'more':
      return t('Select at most {0}.', problem.limit)
    case 'format':
      return describeFormat(problem.format, t)
  }
}

function describeFormat(format: Extract<FieldProblem, { type: 'format' }>['format'], t: Translate): string {
  switch (format) {
    case 'email':
      return t('Enter an email address.')
    case 'uri':
      return t('Enter a full URL, such as https://example.com.')
    case 'date':
      return t('Enter a date, such as 2026-01-31.')
    case 'date-time':
      return t('Enter a date and a time.')
  }
}
