// The steps of a query: as it is written and as it runs, or what each of them took.

import { For, Show } from "solid-js";
import { number, t } from "../i18n";
import type { MeasuredStep, Plan, PlanNode } from "./plan";
import { stepText, treeOf } from "./steps";

function Steps(props: { title: string; steps: string[] }) {
  return (
    <section class="plan-side">
      <h3>{props.title}</h3>
      <ul class="operators">
        <Operator node={treeOf(props.steps)} />
      </ul>
    </section>
  );
}

function MeasuredRow(props: { step: MeasuredStep }) {
  const count = (value: number | null) => (value === null ? "–" : number(value));
  return (
    <tr>
      <td class="mono">
        {"› ".repeat(props.step.depth)}
        <strong>{stepText(props.step.name).name}</strong> {stepText(props.step.name).details}
      </td>
      <td class="digits">{props.step.millis.toFixed(2)}</td>
      <td class="share">
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={`${Math.round(props.step.share * 100)} %`}>
          <rect width={100 * props.step.share} height="10" />
        </svg>
      </td>
      <td class="digits">{count(props.step.rows)}</td>
      <td class="digits">{count(props.step.values)}</td>
    </tr>
  );
}

/** An operator, and below it those that it reads. */
function Operator(props: { node: PlanNode }) {
  return (
    <li>
      <span class="operator">
        <Show when={props.node.of}>{(of) => <span class="quiet">{of()} </span>}</Show>
        <strong>{props.node.name}</strong> <span class="mono">{props.node.details}</span>
        <Show when={props.node.measured}>
          {(done) => (
            <span class="measured"> {t("operatorDone", { rows: number(done().rows), reads: number(done().reads), millis: done().millis.toFixed(2) })}</span>
          )}
        </Show>
      </span>
      <Show when={props.node.children.length > 0}>
        {/* One input goes on below; only several are a step to the right. */}
        <ul classList={{ branches: props.node.children.length > 1 }}>
          <For each={props.node.children}>{(child) => <Operator node={child} />}</For>
        </ul>
      </Show>
    </li>
  );
}

export function PlanView(props: { plan: Plan }) {
  const explained = () => (props.plan.kind === "explain" ? props.plan : null);
  const tree = () => (props.plan.kind === "tree" ? props.plan.root : null);
  const profiled = () => (props.plan.kind === "profile" ? props.plan : null);
  return (
    <div class="plan" tabindex="0" role="region" aria-label={t("plan")}>
      <Show when={tree()}>
        {(root) => (
          <ul class="operators">
            <Operator node={root()} />
          </ul>
        )}
      </Show>
      <Show when={explained()}>
        {(plan) => (
          <div class="plan-sides">
            <Steps title={t("asWritten")} steps={plan().before} />
            <Steps title={t("asRun")} steps={plan().after} />
          </div>
        )}
      </Show>
      <Show when={profiled()}>
        {(plan) => (
          <table class="profile">
            <thead>
              <tr>
                <th scope="col">{t("step")}</th>
                <th scope="col" class="digits">{t("stepTime")}</th>
                <th scope="col" class="share">{t("stepShare")}</th>
                <th scope="col" class="digits">{t("stepRows")}</th>
                <th scope="col" class="digits">{t("stepValues")}</th>
              </tr>
            </thead>
            <tbody>
              <For each={plan().steps}>{(step) => <MeasuredRow step={step} />}</For>
            </tbody>
          </table>
        )}
      </Show>
    </div>
  );
}
