import { zodResolver } from '@hookform/resolvers/zod'
import { type RefObject, useEffect } from 'react'
import type { DefaultValues, FieldPath, FieldValues, UseFormReturn } from 'react-hook-form'
import { get, useForm } from 'react-hook-form'
import { z } from 'zod'
import { refusedFields } from './errors.ts'
import { issueText } from './issue-text.ts'

/** Schemas that bring no message of their own speak the reader's language. */
z.config({ customError: issueText })

/** Whether there is more than blanks. */
export const isTyped = (text: string): boolean => text.trim() !== ''

type FormOptions<Schema extends z.ZodType<FieldValues, FieldValues>> = {
  schema: Schema
  /** What is being edited. When it changes, as by a refresh, fields that were touched keep what was typed. */
  values: z.input<Schema>
  /**
   * A form in the page is validated when it is sent: an error that appeared when its last field was left would push the
   * button away from under the pointer.
   */
  mode?: 'onTouched' | 'onSubmit'
}

/**
 * A form validated by the server's own schema: at first when a field is left, then with every change. Its `reset` too leaves fields
 * that were changed as they are, but with `keepDirtyValues: false`.
 */
export function useZodForm<Schema extends z.ZodType<FieldValues, FieldValues>>({
  schema,
  values,
  mode = 'onTouched',
}: FormOptions<Schema>) {
  return useForm<z.input<Schema>, unknown, z.output<Schema>>({
    resolver: zodResolver(schema),
    defaultValues: values as DefaultValues<z.input<Schema>>,
    values,
    resetOptions: { keepDirtyValues: true },
    mode,
    // See `useFaultFocus`.
    shouldFocusError: false,
  })
}

/**
 * After a save: the form begins with what is stored now. `sent` is what stood in it when the save began: a field that was typed into
 * since stays as typed, as a change.
 */
export function beginAnew<Values extends FieldValues, Output>(
  form: UseFormReturn<Values, unknown, Output>,
  { sent, stored }: { sent: Values; stored: Values },
): void {
  const names = Object.keys(sent) as FieldPath<Values>[]
  const typed = names
    .map((name) => ({ name, value: form.getValues(name) }))
    .filter(({ name, value }) => value !== get(sent, name))
  form.reset(stored, { keepDirtyValues: false })
  for (const { name, value } of typed) form.setValue(name, value, { shouldDirty: true })
}

const faulty = ['input', 'textarea', 'select'].map((field) => `${field}[aria-invalid=true]`).join()

/**
 * Gives the focus to the first field, as the reader sees them, that is wrong after the form was sent. By itself a form goes by the
 * order in which its fields came, where one that a switch brought would be the last.
 */
export function useFaultFocus(form: RefObject<HTMLFormElement | null>, submitCount: number): void {
  useEffect(() => {
    if (submitCount > 0) form.current?.querySelector<HTMLElement>(faulty)?.focus()
  }, [form, submitCount])
}

/** Marks the fields that the server refused; false where it named none of the form's own. */
export function markRefusedFields<Values extends FieldValues, Context, Output>(
  form: UseFormReturn<Values, Context, Output>,
  error: unknown,
): boolean {
  const values = form.getValues()
  const refused = Object.entries(refusedFields(error)).filter(([path]) => (path.split('.')[0] ?? '') in values)
  refused.forEach(([path, message], index) => {
    form.setError(path as FieldPath<Values>, { type: 'server', message }, { shouldFocus: index === 0 })
  })
  return refused.length > 0
}
