// SPDX-License-Identifier: GPL-2.0-or-later
// What a person does: submits, watches, reads, downloads, searches, cancels, and does so by keyboard, without scripts, at night, on a phone.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { accessible, api, close, open, picture, series, submit, top, url, valid, wait } from "./browser.mjs";

const EVIL = `</title></h1><script>alert(1)</script>"'><img src=x onerror=alert(2)>`;

// Without scripts: upload, watch until there is an answer, read it, download the samples.
async function submitsAndReads() {
	const page = await open({ javaScriptEnabled: false });
	const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "walk-")), "my.mbox");

	fs.writeFileSync(file, series("mm: watched boots=4 sleep=0.4"));
	await page.goto(url);
	await page.getByRole("link", { name: "submit", exact: true }).click();
	await page.getByLabel("A patch series, as a file").setInputFiles(file);
	await page.getByText("More choices").click();
	await page.getByLabel("Clock").selectOption("icount");
	await page.getByRole("button", { name: "Submit" }).click();
	await page.waitForURL(/\/jobs\/\d+$/);
	const job = page.url().split("/").pop();
	assert.match(await page.locator("h1").innerText(), /mm: watched/);
	assert.match(await page.locator(".headline").innerText(), /No answer yet/);
	await picture(page, "job-running");
	// the page renews itself
	await page.locator(".headline.worse").waitFor({ timeout: 40000 });
	await page.getByText("REGRESSION").first().waitFor();
	await page.getByText("+5.00% slower").first().waitFor();
	const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: /raw samples as CSV/ }).click()]);
	const csv = fs.readFileSync(await download.path(), "utf8");
	assert.equal(csv, await (await fetch(`${url}/api/v1/jobs/${job}/samples.csv`)).text());
	assert.match(csv, /^job,arm,boot,/);
	await page.context().close();
	return job;
}

// By keyboard alone: the first stop leads past the navigation, and everything of the form can be reached and used.
async function usesTheKeyboard() {
	const page = await open();
	const focused = () => page.evaluate(() => {
		const e = document.activeElement;
		return `${e.tagName} ${e.id || e.textContent.trim()}`;
	});

	await page.goto(url);
	await page.keyboard.press("Tab");
	assert.equal(await focused(), "A to the content");
	await page.keyboard.press("Enter");
	for (let stops = 0; (await focused()) !== "TEXTAREA series_text"; stops++) {
		assert.ok(stops < 200, "the form cannot be reached by keyboard");
		await page.keyboard.press("Tab");
		const seen = await page.evaluate(() => {
			const style = getComputedStyle(document.activeElement);
			return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
		});
		assert.ok(seen, `nothing shows where the keyboard is: ${await focused()}`);
	}
	await page.keyboard.insertText(series("mm: typed boots=1"));
	for (let stops = 0; (await focused()) !== "BUTTON Submit"; stops++) {
		assert.ok(stops < 20, "the button cannot be reached by keyboard");
		await page.keyboard.press("Tab");
	}
	await page.keyboard.press("Enter");
	await page.waitForURL(/\/jobs\/\d+$/);
	const job = await api("GET", `/jobs/${page.url().split("/").pop()}`);
	assert.equal(job.spec.subject, "mm: typed boots=1");
	await page.context().close();
}

async function makesAMistake() {
	const page = await open();

	await page.goto(url);
	page.expected = /422/;
	await page.getByRole("button", { name: "Submit" }).click();
	await page.getByText("series: needs a patch series").waitFor();
	await accessible(page);
	await page.goBack();
	await page.getByRole("button", { name: "Submit" }).waitFor();
	await page.context().close();
}

async function searches(job) {
	const page = await open();

	await page.goto(url);
	await page.getByRole("link", { name: "jobs", exact: true }).click();
	await page.getByLabel("words of the subject").fill("watched");
	await page.getByLabel("verdict").selectOption("REGRESSION");
	await page.getByRole("button", { name: "Search" }).click();
	await page.waitForURL(/verdict=REGRESSION/);
	assert.equal(await page.locator("table.jobs tbody tr").count(), 1);
	await page.getByRole("link", { name: /mm: watched/ }).click();
	await page.waitForURL(`${url}/jobs/${job}`);
	await page.context().close();
}

// What a stranger wrote is text, wherever it comes up.
async function meetsAHostileSeries() {
	const done = await submit(`boots=1 ${EVIL}`), failed = await submit(`end=build-failed ${EVIL}`);
	const page = await open();

	await wait(done);
	await wait(failed);
	for (const where of ["/", "/jobs", `/jobs/${done}`, `/jobs/${failed}`, `/jobs?subject=${encodeURIComponent(EVIL)}`]) {
		await page.goto(url + where);
		assert.equal(await page.locator("img, main script").count(), 0, where);
		assert.ok((await page.locator("body").innerText()).includes("<script>alert(1)</script>") || where.includes("?"), where);
	}
	await page.context().close();
}

async function cancels(job) {
	const page = await open({ javaScriptEnabled: false });

	await page.goto(`${url}/jobs/${job}`);
	await page.getByRole("button", { name: /cancel/i }).click();
	await page.waitForURL(`${url}/jobs/${job}`);
	assert.equal(await wait(job), "cancelled");
	await page.reload();
	await page.getByText("Cancelled before there was an answer").waitFor();
	await page.context().close();
}

async function looksAround(job) {
	const live = await submit("mm: hangs hang=build"), waiting = await submit("mm: waits its turn");
	const pages = { index: "/", jobs: "/jobs", compare: `/compare?kernel=${job}&kernel=${job}:base`, job: `/jobs/${job}`, running: `/jobs/${live}`, hosts: "/hosts", host: "/hosts/local" };
	const looks = {
		light: { colorScheme: "light" },
		dark: { colorScheme: "dark" },
		phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
	};

	await wait(live, ["building"]);
	for (const [look, options] of Object.entries(looks)) {
		const page = await open(options);

		for (const [name, where] of Object.entries(pages)) {
			await page.goto(url + where);
			const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
			assert.equal(paper === "rgb(255, 255, 255)", look !== "dark", `${look} ${where}`);
			await accessible(page);
			await picture(page, `${name}-${look}`);
		}
		await page.context().close();
	}
	for (const where of Object.values(pages))
		await valid(where);
	await wait(live, ["building"]);
	await cancels(live);
	await wait(waiting);
}

const started = Date.now();
const steps = [usesTheKeyboard, makesAMistake, searches, meetsAHostileSeries, looksAround];
const job = await submitsAndReads();
console.log(`ok submitsAndReads ${Date.now() - started} ms`);
for (const step of steps) {
	await step(job);
	console.log(`ok ${step.name} ${Date.now() - started} ms`);
}
await close();
