import { useEffect, useMemo } from 'react'
import type { z } from 'zod'
import { FormDrawer } from '../../components/form-drawer.tsx'
import { notify } from '../../components/notify.ts'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useZodForm } from '../../lib/form.ts'
import { trpc } from '../../lib/trpc.ts'
import { TokenFields } from './fields.tsx'
import { newToken, tokenForm, valuesOf } from './form-schema.ts'
import type { OpenToken } from './use-open-token.ts'

/** Makes tokens, or changes one. */
export function TokenForm({ open }: { open: OpenToken }) {
  const { edited } = open
  const isNew = edited === 0
  const wanted = trpc.user.tokens.get.useQuery({ id: edited ?? 0 }, { enabled: (edited ?? 0) > 0, staleTime: 0 })
  const token = wanted.data?.id === edited ? wanted.data : undefined
  const schema = useMemo(() => tokenForm(token?.expiresAt ?? null), [token])
  const form = useZodForm({ schema, values: newToken })
  const { reset } = form
  useEffect(() => {
    if (isNew) reset(newToken)
    else if (token) reset(valuesOf(token))
  }, [isNew, token, reset])

  const utils = trpc.useUtils()
  const create = trpc.user.tokens.createMany.useMutation()
  const update = trpc.user.tokens.update.useMutation()
  const save = async ({ count, remainQuota, ...fields }: z.output<ReturnType<typeof tokenForm>>) => {
    if (token) {
      const changed = remainQuota !== valuesOf(token).remainQuota
      // What calls take while the form is open is not given back by saving it.
      await update.mutateAsync({ ...fields, id: token.id, ...(changed && { remainQuota }) })
      notify.success(t('保存成功'))
    } else {
      const made = await create.mutateAsync({ ...fields, remainQuota, count })
      open.show(made)
    }
    void utils.user.tokens.invalidate()
  }

  return (
    <FormDrawer
      open={edited !== undefined}
      onClose={open.closeForm}
      title={isNew ? t('新建令牌') : t('编辑令牌')}
      form={form}
      onSubmit={save}
      submitLabel={isNew ? t('创建') : t('保存')}
      loading={!isNew && token === undefined && !wanted.error}
      unavailable={!isNew && token === undefined && wanted.error !== null}
    >
      {wanted.error && !isNew && !token ? <ErrorState error={wanted.error} /> : <TokenFields isNew={isNew} />}
    </FormDrawer>
  )
}
